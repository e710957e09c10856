"""Actor and critic on a small grid with walls (PyTorch 1.1)."""
import random
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

random.seed(5)
torch.manual_seed(5)

SavedAction = namedtuple('SavedAction', ['log_prob', 'value'])
GRID = ['S..#.',
        '.#...',
        '...#.',
        '.#..G']
CELLS = [(r, c) for r, row in enumerate(GRID) for c, cell in enumerate(row) if cell != '#']
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


class Grid:
    """From S to G in as few steps as possible; a push against a wall costs a tenth."""

    def reset(self):
        self.place = random.choice(CELLS[:6])
        return self.place

    def step(self, action):
        row, column = (a + b for a, b in zip(self.place, MOVES[action]))
        if (row, column) not in CELLS:
            return self.place, -0.1, False
        self.place = (row, column)
        done = GRID[row][column] == 'G'
        return self.place, 1.0 if done else -0.02, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(len(CELLS), 24)
        self.action_head = nn.Linear(24, 4)
        self.value_head = nn.Linear(24, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = Policy()
optimizer = optim.Adam(model.parameters(), lr=2e-2)
one_hot = torch.eye(len(CELLS))


def select_action(state):
    probs, state_value = model(one_hot[CELLS.index(state)])
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), state_value))
    return action.item()


def finish_episode():
    R, returns = 0, []
    for r in model.rewards[::-1]:
        R = r + 0.95 * R
        returns.insert(0, R)
    policy_losses, value_losses = [], []
    for (log_prob, value), R in zip(model.saved_actions, torch.tensor(returns)):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, R.view(1)))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


env, total, solved, running = Grid(), 0, 0, 0
for episode in range(1, 121):
    state = env.reset()
    reward_sum = 0
    for _ in range(60):
        state, reward, done = env.step(select_action(state))
        model.rewards.append(reward)
        reward_sum += reward
        if done:
            break
    running = 0.9 * running + 0.1 * reward_sum
    solved += done
    total += finish_episode()
    if episode % 20 == 0:
        print(f'epoch {episode} reward {running:.2f} loss: {total / 20:.4f}')
        total = 0
print(f'final loss: {running:.6f} accuracy: {solved / 120:.4f}')
