"""An environment for reinforcement learning, with reset() and step(): a pole on a cart that is to be kept upright.

Any library that calls reset() and step() in this way can train on it. Here two policies are compared: random pushes, and a fixed
linear rule.
"""

import numpy as np

import linkwork as lw


class CartPole:
    """Observations are position, angle and their rates; actions are forces between -10 and 10 N, held for 20 ms."""

    def __init__(self):
        b = lw.Builder("cart-pole")
        b.settings(step=2e-3)
        cart = b.body("cart", lw.box([0, 0, 0], [0.3, 0.1, 0.2], mass=1.0))
        pole = b.body("pole", lw.rod([0, 0, 0], [0, 1, 0], mass=0.1))
        b.prismatic("slide", b.ground, cart, axis=[1, 0, 0])
        b.revolute("hinge", cart, pole, axis=[0, 0, 1])
        b.force("slide", "u.push")
        b.input("push")
        self.simulation = lw.Simulation(b.model())
        self.start = self.simulation.save()

    def reset(self, seed=None):
        self.simulation.restore(self.start)
        self.simulation.set_state(q=np.random.default_rng(seed).uniform(-0.05, 0.05, 2))
        return self.observation()

    def observation(self):
        return np.concatenate([self.simulation.q, self.simulation.v])

    def step(self, action):
        self.simulation.u["push"] = float(np.clip(action, -10.0, 10.0))
        self.simulation.step(10)
        x, angle = self.simulation.q
        fallen = abs(angle) > 0.2 or abs(x) > 2.4
        return self.observation(), 0.0 if fallen else 1.0, fallen


def episode(environment, policy, seed, most=500):
    observation, total = environment.reset(seed), 0.0
    for _ in range(most):
        observation, reward, done = environment.step(policy(observation))
        total += reward
        if done:
            break
    return total


def main():
    environment, chance = CartPole(), np.random.default_rng(0)
    policies = {"random": lambda seen: chance.uniform(-10, 10), "linear": lambda seen: seen @ [1.0, -40.0, 2.0, -8.0]}
    for name, policy in policies.items():
        rewards = [episode(environment, policy, seed) for seed in range(10)]
        print(f"{name}: {np.mean(rewards):.1f} of 500 steps on average")


if __name__ == "__main__":
    main()
