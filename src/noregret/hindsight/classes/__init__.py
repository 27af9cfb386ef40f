"""The classes of predictors to compare with: balls, boxes, the simplex; projections and bounds."""
