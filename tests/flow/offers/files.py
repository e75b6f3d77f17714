"""Catalogue files as their publishers write them, made up and small: header lines, and a line."""

from __future__ import annotations

from pathlib import Path

_MACHINE = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB"
RUNPOD = f"{_MACHINE},Region,SpotPrice,Price,AvailabilityZone,GpuInfo"
VAST = f"{_MACHINE},GpuInfo,Price,SpotPrice,Region"
AWS = f"{_MACHINE},GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch"
GPUHUNT = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags"
)


def gpu_info(name: str, count: int, each: int, total: int) -> str:
    """Return a GpuInfo as it stands in a line, in quotes: Python's spelling of a dict."""
    return (
        f"\"{{'Gpus': [{{'Name': '{name}', 'Manufacturer': 'NVIDIA', 'Count': {count}, "
        f"'MemoryInfo': {{'SizeInMiB': {each}}}}}], 'TotalGpuMemoryInMiB': {total}}}\""
    )


def catalogue(folder: Path, name: str, header: str, *lines: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return path
