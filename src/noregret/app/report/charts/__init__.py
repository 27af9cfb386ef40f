"""Charts as inline SVG.

A charting library would be embedded in every report: Plotly adds 4 MB. These charts take a few kB,
use the colours of the page's style sheet (light, dark and print) and need no script.

A chart's SVG has no view box: positions are percentages of the plot, so that it fills the width
while text and lines keep their size. Axis labels are outside, in the plot's padding.
"""
