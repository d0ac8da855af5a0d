"""What ties the packages together: ledger, page store, the reconciling loop, the command line."""
