"""Sites to stored pages: spider, scope, politeness, safety."""
