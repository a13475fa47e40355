"""Speed, accuracy and memory of the layers, beside their peers and the floors of linear algebra."""
