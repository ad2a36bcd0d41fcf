"""The one exception that ends a command with a message for its user."""


class StackcostError(Exception):
    """Something the user can mend.

    `what` names the cause, `mend` the command or change that fixes it. The command line prints
    both and exits with 1; nothing else may reach a user as a traceback.
    """

    def __init__(self, what: str, mend: str = ""):
        super().__init__(what if not mend else f"{what}; {mend}")
        self.what = what
        self.mend = mend
