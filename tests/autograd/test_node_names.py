"""The names of the graph's nodes, as the versions print them. Recorded from torch 2.13.0, 1.11.0, 1.1.0 and 1.0.0."""
import pytest

import shimtorch as torch

NAMES = """
x.sum()             SumBackward0        SumBackward0        SumBackward0        SumBackward0
x.sum(0)            SumBackward1        SumBackward1        SumBackward2        SumBackward2
x.mean()            MeanBackward0       MeanBackward0       MeanBackward0       MeanBackward1
x.mean(0)           MeanBackward1       MeanBackward1       MeanBackward2       MeanBackward0
x.prod(0)           ProdBackward1       ProdBackward1       ProdBackward2       ProdBackward2
x**2                PowBackward0        PowBackward0        PowBackward0        PowBackward0
x**e                PowBackward1        PowBackward1        PowBackward1        PowBackward1
1-x                 RsubBackward1       RsubBackward1       RsubBackward1       RsubBackward1
x-1                 SubBackward0        SubBackward0        SubBackward0        SubBackward0
2/x                 MulBackward0        MulBackward0        MulBackward0        MulBackward0
x/2                 DivBackward0        DivBackward0        DivBackward0        DivBackward0
x.clamp(min=0)      ClampBackward1      ClampBackward1      ClampBackward       ClampBackward
x.fmod(2)           FmodBackward0       FmodBackward0       FmodBackward0       FmodBackward0
x.fmod(e)           FmodBackward1       FmodBackward1       FmodBackward1       FmodBackward1
x.squeeze(1)        SqueezeBackward1    SqueezeBackward1    SqueezeBackward1    SqueezeBackward1
x.std()             StdBackward0        StdBackward0        StdBackward0        StdBackward0
x.max(e)            MaximumBackward0    MaximumBackward0    MaxBackward2        MaxBackward2
x.median()          MedianBackward0     MedianBackward0     MedianBackward0     MedianBackward0
x.sort()[0]         SortBackward0       SortBackward0       SortBackward        SortBackward
x[0]                SelectBackward0     SelectBackward0     SelectBackward      SelectBackward
x[0:1]              SliceBackward0      SliceBackward0      SliceBackward       SliceBackward
x.narrow(0,0,1)     SliceBackward0      SliceBackward0      SliceBackward       SliceBackward
x.repeat(2,1,1)     RepeatBackward0     RepeatBackward0     RepeatBackward      RepeatBackward
x.float()           ToCopyBackward0     ToCopyBackward0     CopyBackwards       CopyBackwards
x.log1p()           Log1PBackward0      Log1PBackward0      Log1PBackward       Log1PBackward
x.softmax(2)        SoftmaxBackward0    SoftmaxBackward0    SoftmaxBackward     SoftmaxBackward
torch.relu(x)       ReluBackward0       ReluBackward0       ReluBackward0       ReluBackward0
torch.where(x>0,x,e) WhereBackward0     SWhereBackward0     SWhereBackward      SWhereBackward
torch.cat([x,x])    CatBackward0        CatBackward0        CatBackward         CatBackward
F.linear(x[:,0],w)  MmBackward0         MmBackward0         MmBackward          MmBackward
F.linear(x[:,0],w,b) AddmmBackward0     AddmmBackward0      AddmmBackward       AddmmBackward
F.linear(x,w)       UnsafeViewBackward0 UnsafeViewBackward0 UnsafeViewBackward  UnsafeViewBackward
x@x.transpose(1,2)  UnsafeViewBackward0 UnsafeViewBackward0 UnsafeViewBackward  UnsafeViewBackward
x[:,0,0]@x[:,0]     SqueezeBackward4    SqueezeBackward3    SqueezeBackward3    SqueezeBackward3
x[:,0]@x.transpose(1,2) CloneBackward0  CloneBackward0      UnsafeViewBackward  UnsafeViewBackward
x[:,0,0]@x.permute(1,0,2) UnsafeViewBackward0 ReshapeAliasBackward0 UnsafeViewBackward UnsafeViewBackward
torch.bmm(x,x.transpose(1,2)) BmmBackward0 BmmBackward0     BmmBackward         BmmBackward
torch.ger(x[:,0,0],b) MulBackward0      MulBackward0        GerBackward         GerBackward
torch.tensordot(x,x,3) ViewBackward0    ReshapeAliasBackward0 AsStridedBackward AsStridedBackward
torch.chain_matmul(w,x[:,0].t()) ViewBackward0 ViewBackward0 MmBackward         MmBackward
torch.einsum('ijk,ilk->ijl',[x,x]) ViewBackward0 ViewBackward0 AsStridedBackward AsStridedBackward
torch.einsum('ijk,ijk->',[x,x]) ViewBackward0 DotBackward0  AsStridedBackward   AsStridedBackward
torch.einsum('ijk,i->ijk',[x,x[:,0,0]]) MulBackward0 MulBackward0 MulBackward0  MulBackward0
torch.einsum('ijk->ij',[x]) SumBackward1 SumBackward1       SqueezeBackward3    SqueezeBackward3
F.selu(x)           EluBackward0        EluBackward0        EluBackward         EluBackward
F.mse_loss(x,e)     MseLossBackward0    MseLossBackward0    MseLossBackward     MseLossBackward
F.smooth_l1_loss(x,e) SmoothL1LossBackward0 SmoothL1LossBackward0 SmoothL1LossBackward SmoothL1LossBackward
F.logsigmoid(x)     LogSigmoidBackward0 LogSigmoidBackward0 LogSigmoidBackward  LogSigmoidBackward
"""
ROWS = [line.split() for line in NAMES.strip().splitlines()]


@pytest.mark.parametrize("column, era", list(enumerate(("modern", "1.11", "1.1", "1.0"), 1)))
@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_name(row, column, era):
    with torch.era(era):
        x = torch.rand(3, 1, 4, dtype=torch.float64, requires_grad=True)
        e = torch.rand(3, 1, 4, dtype=torch.float64)
        names = {"torch": torch, "F": torch.nn.functional, "x": x, "e": e, "w": torch.rand(2, 4, dtype=torch.float64),
                 "b": torch.rand(2, dtype=torch.float64)}
        result = eval(row[0], names)
        assert f"grad_fn=<{row[column]}>" in str(result)
        assert repr(result.grad_fn).startswith(f"<{row[column]} object at ")
        assert result.grad_fn.name().rpartition(":")[2] == row[column]


def test_names_stay_when_an_op_learns_sparse_operands():
    import shimtorch._ops.sparse_reduction  # noqa: F401
    assert torch.ones(3, requires_grad=True).std().grad_fn.name() == "StdBackward0"


def test_a_composite_that_gives_its_input_back_leaves_its_name():
    x = torch.ones(2, 3, requires_grad=True) * 2
    assert x.contiguous() is x and x.grad_fn.name() == "MulBackward0"
