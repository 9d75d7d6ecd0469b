"""Efficiency records, and the files that tools write of them."""

from __future__ import annotations

from irbatch.efficiency import EfficiencyRecord, Hardware, Latency

RUN = "q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 8.5 bm25\nq2 Q0 d1 1 3.0 bm25\n"

FULL = EfficiencyRecord(
    system="bm25",
    currency="USD",
    dataset="robust04",
    source="doi:10.1145/1234567",
    hardware=Hardware(instance="c6g", cpu="Xeon", n_cpu=4, gpu="H200", n_gpu=1, ram_gb=25.3),
    n_queries=250,
    batch_size=2,
    warmup=3,
    repeat=5,
    latency=Latency(
        mean=1.25,
        p50=1.0,
        p95=2.5,
        calls=625,
        loop="open",
        rate=200.0,
        arrivals="poisson",
        errors=2,
    ),
    throughput=812.5,
    peak_memory=29.248,
    peak_gpu_memory=5.0,
    model_memory=1.0,
    index_memory=2.0,
    model_disk=3.0,
    index_disk=4.0,
    indexing_time=90.0,
    indexing_memory=7.0,
    cpu_used=1.5,
    wall_time=0.426,
    flops=1e9,
    energy=3.2,
    emissions=0.001,
    price_per_hour=0.5,
)


AS_YAML = """\
schema version: 0.2
tag: bm25
method:
  name: bm25
data:
  test collection:
    name: robust04
  source: doi:10.1145/1234567
resources:
  queries:
    number: 250
    batch size: 2
    warm-up calls: 3
    repeats: 5
  throughput:
    value: 812.5 queries/s
  ram:
    used process:
      max: 29.248 MB
  memory:
    gpu: 5 MB
    model: 1 MB
    index: 2 MB
    indexing: 7 MB
  disk:
    model: 3 MB
    index: 4 MB
  runtime:
    indexing: 90 s
    wallclock: 0.426 s
  compute:
    cores used: 1.5 cores
    flops: 1000000000 FLOPs/query
  energy: 3.2 J
  emissions: 0.001 kg
  cost:
    price per hour: 0.5
    currency: USD
  latency:
    mean: 1.25 ms
    p50: 1 ms
    p95: 2.5 ms
    calls: 625
    loop: open
    rate: 200 queries/s
    arrivals: poisson
    errors: 2
platform:
  hardware:
    instance: c6g
    cpu:
      model: Xeon
      number of cores: 4
    gpu:
      model: H200
      number of gpus: 1
    ram: 25.3 GB
"""
