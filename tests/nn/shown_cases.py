"""What layers, tools and optimizers give, shown as text: run on real torch for the record, and on shimtorch."""


def cases(torch, shown):
    """The cases by name; each appends the text of what it computes to shown."""
    nn, F = torch.nn, torch.nn.functional

    def show(*values):
        shown.extend(str(v.detach() if isinstance(v, torch.Tensor) else v) for v in values)

    def prune():
        prune = nn.utils.prune
        torch.manual_seed(0)
        m = nn.Linear(4, 3)
        prune.l1_unstructured(m, "weight", amount=0.3)
        show(m.weight, m.weight_mask, [n for n,_ in m.named_parameters()], list(m.state_dict()))
        prune.ln_structured(m, "weight", amount=1, n=2, dim=0)
        show(m.weight)
        show(prune.is_pruned(m))
        prune.remove(m, "weight")
        show(m.weight, prune.is_pruned(m), [n for n,_ in m.named_parameters()])
        m2 = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
        both = [(m2[0], "weight"), (m2[1], "weight")]
        prune.global_unstructured(both, pruning_method=prune.L1Unstructured, amount=0.4)
        show(m2[0].weight, m2[1].weight, m2(torch.ones(1, 3)))
        prune.custom_from_mask(m2[0], "bias", torch.tensor([1, 0, 1]))
        show(m2[0].bias)
        m3 = nn.Linear(4, 4)
        prune.random_unstructured(m3, "weight", 0.5)
        show(m3.weight)
        prune.random_structured(nn.Linear(4,4), "weight", 2, dim=1)
        prune.identity(nn.Linear(1,1), "weight")

    def fusion():
        torch.manual_seed(1)
        c = nn.Conv2d(2, 3, 3)
        b = nn.BatchNorm2d(3)
        b.running_mean.uniform_()
        b.running_var.uniform_(0.5, 1)
        c.eval()
        b.eval()
        fuse_conv_bn_eval, fuse_linear_bn_eval = nn.utils.fusion.fuse_conv_bn_eval, nn.utils.fusion.fuse_linear_bn_eval
        f = fuse_conv_bn_eval(c, b)
        x = torch.randn(1, 2, 5, 5)
        show(f.weight[0, 0], (f(x) - b(c(x))).abs().max() < 1e-5)
        linear = nn.Linear(3, 4).eval()
        bn = nn.BatchNorm1d(4).eval()
        g = fuse_linear_bn_eval(linear, bn)
        x = torch.randn(2, 3)
        show((g(x) - bn(linear(x))).abs().max() < 1e-5)

    def swa():
        tools = torch.optim.swa_utils
        torch.manual_seed(2)
        m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        o = torch.optim.SGD(m.parameters(), lr=0.1)
        s = tools.AveragedModel(m)
        sch = tools.SWALR(o, swa_lr=0.05, anneal_epochs=3)
        data = [(torch.randn(4, 2),) for _ in range(3)]
        for i in range(4):
            o.zero_grad()
            m(data[i % 3][0]).sum().backward()
            o.step()
            s.update_parameters(m)
            sch.step()
            show(o.param_groups[0]["lr"])
        tools.update_bn(data, s)
        show(s.n_averaged, list(s.state_dict())[:3], s(data[0][0]), s.module[1].running_mean)
        e = tools.AveragedModel(m, avg_fn=tools.get_ema_avg_fn(0.9))
        e.update_parameters(m)
        show(e.module[0].weight)

    def parallel():
        torch.manual_seed(3)
        m = nn.DataParallel(nn.Linear(2, 2))
        show(m(torch.ones(1, 2)), list(m.state_dict()), m.module)

    def transformer():
        torch.manual_seed(4)
        m = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        x = torch.randn(5, 2, 8, requires_grad=True)
        y = m(x)
        (y * torch.randn(5, 2, 8)).sum().backward()
        show(y[0], x.grad[0], m.self_attn.in_proj_weight.grad.sum(1))
        t = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0)
        show(t(torch.randn(3, 1, 8), torch.randn(2, 1, 8), tgt_mask=nn.Transformer.generate_square_subsequent_mask(2)))
        print(t)
        a = nn.MultiheadAttention(8, 2, batch_first=True)
        o, w = a(x[:, :1], x[:, :1], x[:, :1])
        show(o[0], w)
        show(F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0, 0])

    def losses():
        torch.manual_seed(5)
        lp = torch.randn(6, 2, 4).log_softmax(2).requires_grad_()
        loss = F.ctc_loss(lp, torch.tensor([[1, 2, 0], [3, 3, 1]]), torch.tensor([6, 6]), torch.tensor([2, 3]))
        loss.backward()
        show(loss, lp.grad[:, 1])
        x = torch.randn(1, 2, 4, 4, requires_grad=True)
        g = F.affine_grid(torch.tensor([[[1., .2, 0], [-.1, .8, .3]]]), (1, 2, 3, 3), align_corners=False)
        show(g, F.grid_sample(x, g, align_corners=False))
        show(F.grid_sample(x, g, mode="bicubic", padding_mode="reflection", align_corners=True))
        show(F.grid_sample(x, g, mode="nearest", padding_mode="border", align_corners=True))
        p, i = F.max_pool2d(x, 2, return_indices=True)
        show(nn.MaxUnpool2d(2)(p, i))
        torch.manual_seed(6)
        show(nn.FractionalMaxPool2d(2, output_ratio=0.5)(x))
        torch.manual_seed(7)
        ad = nn.AdaptiveLogSoftmaxWithLoss(6, 10, [3, 6])
        q = torch.randn(4, 6)
        show(ad(q, torch.tensor([0, 3, 7, 9])), ad.log_prob(q)[0], ad.predict(q))

    def rnn():
        torch.manual_seed(8)
        for cls in (nn.LSTM, nn.GRU, nn.RNN):
            r = cls(3, 4, 2, bidirectional=True, batch_first=True)
            x = torch.randn(2, 5, 3, requires_grad=True)
            y, h = r(x)
            (y * y).sum().backward()
            show(y[0, 0], (h[0] if isinstance(h, tuple) else h)[0], x.grad[0, 0], r.weight_hh_l1_reverse.grad[0])
        p = nn.utils.rnn.pack_padded_sequence(x, [5, 3], batch_first=True)
        y, h = nn.LSTM(3, 4, batch_first=True)(p)
        y, n = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=6)
        show(y[1], n)
        show(nn.LSTM(3, 4, proj_size=2)(torch.ones(2, 1, 3))[0])

    def train(make, dtype=torch.float32):
        torch.manual_seed(9)
        layer = nn.Linear(3, 2).to(dtype)
        optimizer, x = make(layer.parameters()), torch.ones(1, 3, dtype=dtype)

        def closure():
            optimizer.zero_grad()
            loss = layer(x).pow(2).sum()
            loss.backward()
            return loss
        for _ in range(4):
            optimizer.step(closure)
        show(layer.weight, layer.bias)
        return optimizer

    def optim():
        for name in ("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "RMSprop", "Adamax", "ASGD", "Rprop", "NAdam",
                     "RAdam", "LBFGS"):
            train(lambda p, name=name: getattr(torch.optim, name)(p, lr=0.01))
        for options in ({"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
                        {"momentum": 0.5, "dampening": 0.1, "maximize": True}):
            made = train(lambda p, options=options: torch.optim.SGD(p, lr=0.01, **options))
            show(made.state_dict()["state"][0])
        for options in ({"amsgrad": True, "weight_decay": 0.1}, {"maximize": True, "eps": 1e-3}):
            made = train(lambda p, options=options: torch.optim.Adam(p, lr=0.01, **options), torch.float64)
            show(made.state_dict()["state"][0])

    def clip():
        torch.manual_seed(1)
        m = nn.Linear(2, 2)
        m(torch.ones(1, 2)).sum().backward()
        show(nn.utils.clip_grad_norm_(m.parameters(), 0.5), m.weight.grad)
        nn.utils.clip_grad_value_(m.parameters(), 0.1)
        show(m.weight.grad)
        n = nn.utils.weight_norm(nn.Linear(2, 3))
        show(n.weight_g, n(torch.ones(1, 2)))
        s = nn.utils.spectral_norm(nn.Linear(2, 3))
        show(s(torch.ones(1, 2)), s.weight_u)
        show(nn.utils.parameters_to_vector(m.parameters()))

    return {f.__name__: f for f in (prune, fusion, swa, parallel, transformer, losses, rnn, optim, clip)}
