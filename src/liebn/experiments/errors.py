"""What a user of the experiments can put right; the message is one line."""


class ExperimentError(Exception):
    """A protocol, a configuration or the surroundings of a sweep cannot be used."""
