"""Documents: files in and out, their features and labels, the walk's settings, predictions and models."""
