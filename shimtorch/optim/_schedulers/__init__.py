"""The schedules of torch.optim.lr_scheduler, by kind."""
