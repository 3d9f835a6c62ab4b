"""A part of an assembly that Python computes."""


class Module:
    """A part of a system, joined to the others at its ports. A glue asks three questions, in this order and at the same state.

    Derive a class that sets `ports` and `state_size`, and answers start(), kinematics(), response() and advance(). The state is an
    array that means something only to the module. It is kept by others: nothing that the motion depends on is remembered.
    """

    ports = 1  #: how many
    state_size = 0  #: numbers of the state
    controlled_size = None  #: those of them, the first ones, that error control looks at; None: all
    columns = ()  #: names of what record() gives
    dof = 0  #: degrees of freedom

    def start(self):
        """The state at the start: `state_size` numbers."""
        raise NotImplementedError

    def kinematics(self, t, x):
        """First question: how the ports move at a state. Of each port R (3 x 3), p, w, v: its frame, and its velocities; world axes."""
        raise NotImplementedError

    def response(self, level):
        """Second question: how the ports answer to forces on them there, xdd = D Q + R. Gives D, R, and if wanted a scale.

        Six numbers per port, angular part first, world axes. `level` is "acceleration", or "velocity" or "position" if a state is
        brought back onto the constraints: R is then the change that the module's own constraints ask for. The scale is how large
        the diagonal of D could be at other positions.
        """
        raise NotImplementedError

    def advance(self, level, Q, x):
        """Third question: the forces on the ports are Q. At the level of acceleration the rate of the state; else the state x, corrected."""
        raise NotImplementedError

    def record(self, Q):
        """Output: numbers in the order of `columns`."""
        return ()

    def energy(self):
        """Kinetic, potential, and work done on the module since the start by what has no potential in it; J."""
        return 0.0, 0.0, 0.0

    def errors(self):
        """Of its own constraints, position and velocity; and how fast its coordinates move."""
        return 0.0, 0.0, 0.0

    def normalize(self, x):
        """Brings back what integration leaves only approximately: a state, or None if there is nothing to do."""
        return None

    def set_input(self, name, value):
        """Whether it has an input of that name, which then keeps the value; None: it is as the module has it again."""
        return False
