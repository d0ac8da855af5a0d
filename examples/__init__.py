"""Three small fictional customers' web sites, and the server that shows them."""
