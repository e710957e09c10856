"""Calls of functions that torch has beside those of torch.nn.functional: run on real torch for the record, and here."""
import warnings

from recorded import answer, grid

LAYERS = """
torch.layer_norm(x(2, 3, 4), (4,))
torch.layer_norm(x(2, 3, 4), (3, 4), x(3, 4), x(3, 4), 1e-3)
torch.group_norm(x(2, 4, 3), 2, x(4), x(4))
torch.group_norm(x(2, 4, 3), 2)
torch.batch_norm(x(3, 4), x(4), x(4), None, None, True, 0.1, 1e-5, False)
torch.batch_norm(x(3, 4, 2), None, None, x(4), x(4).abs(), False, 0.1, 1e-5, False)
torch.instance_norm(x(2, 3, 4), x(3), x(3), None, None, True, 0.1, 1e-5, False)
torch.rms_norm(x(2, 4), (4,), x(4), 1e-3)
torch.native_layer_norm(x(2, 3, 4), (4,), x(4), None, 1e-5)
torch.native_group_norm(x(2, 4, 3), None, None, 2, 4, 3, 2, 1e-5)
torch.native_batch_norm(x(3, 4), x(4), x(4), None, None, True, 0.1, 1e-5)
torch.native_batch_norm(x(3, 4), None, None, x(4), x(4).abs(), False, 0.1, 1e-5)
torch.norm_except_dim(x(2, 3, 4), 2, 0)
torch.norm_except_dim(x(2, 3, 4), 1, 2)
torch.norm_except_dim(x(2, 3, 4), 2, -1)
torch.embedding(x(5, 3), i(0, 4, 2))
torch.embedding(x(5, 3), i(0, 4, 2), 4, True)
torch.embedding_bag(x(5, 3), i(0, 1, 2, 1), i(0, 2))
torch.embedding_bag(x(5, 3), i(0, 1, 2, 1), i(0, 2), False, 1)
torch.embedding_bag(x(5, 3), i(0, 1, 2, 1), i(0, 3), False, 2)
torch.embedding_bag(x(5, 3), i(0, 1, 2, 1), i(0, 2), False, 0, False, None, True)
torch.embedding_bag(x(5, 3), i(0, 1, 2, 1), i(0, 2), False, 0, False, x(4))
torch.embedding_renorm_(x(5, 3), i(0, 2), 0.5, 2)
torch.grid_sampler(x(1, 2, 3, 3), x(1, 2, 2, 2) / 2, 0, 0, False)
torch.grid_sampler_2d(x(1, 2, 3, 3), x(1, 2, 2, 2) / 2, 1, 1, True)
torch.grid_sampler_2d(x(1, 2, 3, 3), x(1, 2, 2, 2) / 2, 2, 2, False)
torch.grid_sampler_3d(x(1, 1, 2, 3, 3), x(1, 2, 1, 2, 3) / 2, 0, 0, True)
torch.affine_grid_generator(x(1, 2, 3), (1, 1, 2, 3), True)
torch.adaptive_max_pool1d(x(2, 3, 5), 2)
torch.constant_pad_nd(x(2, 3), (1, 2, 0, 1), 7)
torch.channel_shuffle(x(1, 4, 2), 2)
torch.native_channel_shuffle(x(1, 4, 2), 2)
torch.convolution(x(1, 2, 5), x(3, 2, 2), x(3), (1,), (1,), (2,), False, (0,), 1)
torch.convolution(x(1, 2, 3, 3), x(2, 3, 2, 2), None, (2, 1), (0, 0), (1, 1), True, (1, 0), 1)
torch.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(4), 1)
F.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(4))
F.native_channel_shuffle(x(1, 4, 2), 2)
x(2, 3).prelu(t(0.2))
x(2, 3).hardshrink()
x(2, 3).hardshrink(1.0)
""".strip().split("\n")

LOSSES = """
torch.binary_cross_entropy_with_logits(x(4), x(4).sigmoid())
torch.binary_cross_entropy_with_logits(x(4), x(4).sigmoid(), x(4).abs(), x(4).abs(), 0)
torch.cosine_embedding_loss(x(3, 4), x(3, 4, start=5), t(1., -1., 1.), 0.1)
torch.hinge_embedding_loss(x(3), t(1., -1., 1.), 1.5, 2)
torch.margin_ranking_loss(x(3), x(3, start=2), t(1., -1., 1.), 0.5, 0)
torch.triplet_margin_loss(x(2, 3), x(2, 3, start=4), x(2, 3, start=9), 1.0, 2.0, 1e-6, True, 2)
torch.kl_div(x(2, 3).log_softmax(1), x(2, 3).softmax(1), 2)
torch.kl_div(x(2, 3).log_softmax(1), x(2, 3).log_softmax(1), 1, log_target=True)
torch.poisson_nll_loss(x(3), x(3).abs(), True, True, 1e-8, 1)
torch.ctc_loss(x(5, 2, 4).log_softmax(2), i(1, 2, 3), i(5, 4), i(2, 1))
torch.ctc_loss(x(5, 2, 4).log_softmax(2), i(1, 2, 3), [5, 4], [2, 1], 0, 0, True)
""".strip().split("\n")

RECURRENT = """
torch.lstm(x(3, 2, 4), (x(1, 2, 5), x(1, 2, 5)), w(4, 5, 20), True, 1, 0.0, False, False, False)
torch.lstm(x(2, 3, 4), [x(1, 2, 5), x(1, 2, 5)], w(4, 5, 20)[:2], False, 1, 0.0, False, False, True)
torch.lstm(x(3, 2, 4), (x(4, 2, 5), x(4, 2, 5)), w(4, 5, 20) * 2 + w(10, 5, 20) * 2, True, 2, 0.0, False, True, False)
torch.lstm(x(5, 4), i(2, 2, 1), (x(1, 2, 5), x(1, 2, 5)), w(4, 5, 20), True, 1, 0.0, False, False)
torch.gru(x(3, 2, 4), x(1, 2, 5), w(4, 5, 15), True, 1, 0.0, False, False, False)
torch.gru(x(5, 4), i(2, 2, 1), x(1, 2, 5), w(4, 5, 15), True, 1, 0.0, False, False)
torch.rnn_tanh(x(3, 2, 4), x(1, 2, 5), w(4, 5, 5), True, 1, 0.0, False, False, False)
torch.rnn_relu(x(3, 2, 4), x(2, 2, 5), w(4, 5, 5) * 2, True, 1, 0.0, False, True, False)
torch.lstm_cell(x(2, 4), (x(2, 5), x(2, 5)), *w(4, 5, 20))
torch.gru_cell(x(2, 4), x(2, 5), *w(4, 5, 15))
torch.rnn_tanh_cell(x(2, 4), x(2, 5), *w(4, 5, 5))
torch.rnn_relu_cell(x(2, 4), x(2, 5), *w(4, 5, 5)[:2])
""".strip().split("\n")

DENSE = """
torch.nonzero_static(i(0, 1, 2), size=4)
torch.nonzero_static(i(0, 1, 2), size=1)
i(0, 1, 2).nonzero_static(size=3, fill_value=7)
torch.nonzero_static(i(0, 1, 2), size=-1)
torch.histogramdd(x(9, 2), [2, 3])
torch.histogramdd(x(9, 2), 3)
torch.histogramdd(x(9, 2), [t(-1., 0., 2.), t(0., 2.)])
torch.histogramdd(x(9, 2), [3, 3], range=[0., 1., 0., 1.], weight=x(9).abs(), density=True)
torch.histogramdd(x(2, 4, 1), [3])
torch.histogramdd(torch.ones(3, 2), [2, 2])
torch.histogramdd(x(9, 2), [3])
torch.histogramdd(x(9), [3])
torch.histogramdd(torch.ones(3, 2, dtype=torch.int64), [3, 3])
torch.histogramdd(x(3, 2), [0, 3])
torch.histogramdd(x(3, 2), [3, 3], range=[0., 1.])
torch.histogramdd(x(3, 2), [3, 3], range=[1., 0., 0., 1.])
torch.segment_reduce(x(5), "sum", lengths=i(2, 0, 3))
torch.segment_reduce(x(5), "mean", lengths=i(2, 0, 3))
torch.segment_reduce(x(5), "max", lengths=i(2, 0, 3))
torch.segment_reduce(x(5), "min", lengths=i(2, 0, 3))
torch.segment_reduce(x(5), "prod", lengths=i(2, 0, 3))
torch.segment_reduce(x(5), "sum", offsets=i(0, 2, 2, 5))
torch.segment_reduce(x(5), "mean", lengths=i(2, 0, 3), initial=10)
torch.segment_reduce(x(5), "max", lengths=i(2, 0, 3), initial=1)
torch.segment_reduce(x(5, 2), "sum", lengths=i(2, 1), unsafe=True)
torch.segment_reduce(x(2, 3), "sum", lengths=i(2, 1, 1, 2).view(2, 2), axis=1)
torch.segment_reduce(x(5), "sum", lengths=i(2, 1))
torch.segment_reduce(x(5), "sum")
torch.segment_reduce(x(5), "other", lengths=i(2, 3))
torch.segment_reduce(x(5), "sum", lengths=t(2., 3.))
torch.segment_reduce(x(5), "sum", lengths=i(-1, 6))
torch.segment_reduce(x(3, 2), "sum", lengths=i(2, 1), axis=1)
torch.segment_reduce(i(1, 2), "sum", lengths=i(2))
product(*torch.svd_lowrank(x(6, 4), q=4))
torch.svd_lowrank(x(6, 4))[1]
product(*torch.svd_lowrank(x(4, 6), q=4, niter=1, M=torch.ones(4, 6)))
product(*torch.svd_lowrank(x(2, 4, 3), q=3))
product(*torch.pca_lowrank(x(6, 4)))
product(*torch.pca_lowrank(x(6, 4), center=False))
torch.pca_lowrank(x(6, 4), q=3)[1].shape
product(*torch.pca_lowrank(x(6, 4).to_sparse()))
torch.pca_lowrank(x(6, 4), q=9)
torch.pca_lowrank(x(6, 4), niter=-1)
torch.lobpcg(spd(9), 2)[0]
torch.lobpcg(spd(9), 2, largest=False)[0]
torch.lobpcg(torch.stack([spd(9), 2 * spd(9)]), 1)[0]
torch.lobpcg(spd(9), 2, B=spd(9) + torch.eye(9))[0]
torch.lobpcg(spd(9), 1, X=x(9, 2).double())[0]
torch.lobpcg(spd(9).to_sparse(), 1)[0]
[v.abs() for v in torch.lobpcg(torch.diag(torch.arange(1., 10.).double()), 2)]
torch.lobpcg(spd(9), 4)
torch.get_device(x(2)), torch.is_signed(x(2)), torch.is_conj(x(2)), torch.is_neg(x(2)), torch.is_inference(x(2))
torch.is_distributed(x(2)), x(2).is_distributed(), x(2).name, x(2).is_ipu, x(2).is_xla, x(2).is_maia, x(2).is_mtia
torch.detach_(x(2)), x(2).grad_dtype, x(2, 3).t().dim_order(), x(2, 1).dim_order()
x(2, 3).resize(6), x(2, 3).resize(3, 2), x(2, 3).resize_as(x(6))
x(2, 3).resize(5)
torch.init_num_threads(), torch.clear_autocast_cache()
""".strip().split("\n")

CASES = LAYERS + LOSSES + RECURRENT + DENSE


def run(torch, case):
    """What a case gives."""
    def w(inputs, hidden, gates):
        """The weights of a layer whose gates are stacked in so many rows."""
        return [grid(torch, gates, inputs) / 2, grid(torch, gates, hidden, start=3) / 2, grid(torch, gates) / 2,
                grid(torch, gates, start=5) / 2]

    def spd(n):
        a = grid(torch, n, n, dtype=torch.float64)
        return a @ a.t() + torch.diag(torch.arange(1.0, n + 1, dtype=torch.float64))

    space = {"torch": torch, "F": torch.nn.functional, "x": lambda *shape, **o: grid(torch, *shape, **o), "w": w,
             "i": lambda *v: torch.tensor(v), "t": lambda *v: torch.tensor(v), "spd": spd,
             "product": lambda U, S, V: (S, (U * S.unsqueeze(-2)) @ V.transpose(-2, -1))}
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answer(lambda: eval(case, space))
