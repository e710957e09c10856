"""REINFORCE on a pole that stands on a cart (PyTorch 0.4); the cart's mechanics are written out below."""
from __future__ import print_function

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable
from torch.distributions import Categorical

random.seed(543)
torch.manual_seed(543)


class CartPole(object):
    """A cart of 1 kg pushed left or right with 10 N, with a pole of 0.1 kg and 1 m; over at 12 degrees or 2.4 m."""

    def reset(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state

    def step(self, action):
        x, speed, angle, turning = self.state
        force = 10.0 if action == 1 else -10.0
        inner = (force + 0.05 * turning ** 2 * math.sin(angle)) / 1.1
        pull = 9.8 * math.sin(angle) - math.cos(angle) * inner
        twist = pull / (0.5 * (4.0 / 3.0 - 0.1 * math.cos(angle) ** 2 / 1.1))
        push = inner - 0.05 * twist * math.cos(angle) / 1.1
        self.state = [x + 0.02 * speed, speed + 0.02 * push, angle + 0.02 * turning, turning + 0.02 * twist]
        return self.state, 1.0, abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 32)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.affine2(x), dim=1)


env, policy = CartPole(), Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    state = torch.tensor(state).unsqueeze(0)
    m = Categorical(policy(Variable(state)))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R, rewards = 0, []
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        rewards.insert(0, R)
    rewards = torch.tensor(rewards)
    rewards = (rewards - rewards.mean()) / (rewards.std() + 1e-5)
    policy_loss = torch.cat([-log_prob * reward for log_prob, reward in zip(policy.saved_log_probs, rewards)]).sum()
    optimizer.zero_grad()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return policy_loss.item()


running_length, longest = 10, 0
for i_episode in range(1, 41):
    state = env.reset()
    for t in range(200):
        state, reward, done = env.step(select_action(state))
        policy.rewards.append(reward)
        if done:
            break
    running_length = running_length * 0.95 + t * 0.05
    longest = max(longest, t)
    loss = finish_episode()
    if i_episode % 8 == 0:
        print('epoch {} length {:.2f} loss: {:.4f}'.format(i_episode, running_length, loss))
print('final loss: {:.6f} accuracy: {:.4f}'.format(running_length, longest / 200.0))
