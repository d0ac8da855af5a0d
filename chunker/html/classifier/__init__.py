"""The trained part of the region's choice: weights as data, read and applied with numpy alone."""
