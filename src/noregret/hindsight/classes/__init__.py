"""The classes of predictors to compare with: their projections and their bounds."""
