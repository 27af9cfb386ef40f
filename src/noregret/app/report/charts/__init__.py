"""Charts as inline SVG, in our own few lines.

A charting library would put its whole self into every report: Plotly's is 4 MB. These charts are
some kB, take their colours from the page's style sheet (so that they follow light, dark and print)
and need no script.

A chart's SVG has no view box: places are percentages of the plot, so that it is as wide as there is
room while text and lines keep their size. Axis labels stand outside, in the plot's padding.
"""
