"""What drivers make of the GPU kernels, without a GPU: size and cost of their compiled form.

    TAILSPN_KERNELS=DIR cargo test -p tailspn-engine --lib -- --ignored kernels_as_spirv
    python benches/python/kernels.py DIR [--family GFX1100] [--compare benches/results/kernels.json] [--write FILE]

Mesa's RADV compiles for AMD cards that are not there (RADV_FORCE_FAMILY, the null device) and prints what it made:
registers, spills, instructions, and its own estimate of latency. Needs `pip install vulkan` and mesa-vulkan-drivers;
spirv-val (package spirv-tools) checks the kernels where it is installed.

With --compare, the exit status is 1 where a number is more than 5% above the recorded one of the same driver.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROWS = {
    "Instructions": "instructions",
    "Branches": "branches",
    "SGPRs": "scalar registers",
    "VGPRs": "vector registers",
    "Spilled VGPRs": "spilled registers",
    "Scratch size": "scratch [bytes]",
    "LDS size": "workgroup memory [bytes]",
    "Latency": "latency [cycles]",
    "Inverse Throughput": "inverse throughput [cycles]",
}
TOLERANCE = 0.05


def compile_on_null_device(path: Path) -> None:
    """Compiles one kernel in this process; the driver prints its statistics."""
    import vulkan as vk

    application = vk.VkApplicationInfo(pApplicationName="kernels", apiVersion=vk.VK_MAKE_VERSION(1, 1, 0))
    instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
    card = vk.vkEnumeratePhysicalDevices(instance)[0]
    print("driver:", vk.vkGetPhysicalDeviceProperties(card).deviceName, file=sys.stderr)
    queue = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=0, queueCount=1, pQueuePriorities=[1.0])
    features = vk.VkPhysicalDeviceFeatures(shaderInt64=True, robustBufferAccess=True)
    device = vk.vkCreateDevice(
        card, vk.VkDeviceCreateInfo(pQueueCreateInfos=[queue], pEnabledFeatures=features), None
    )
    # binding 0 is the uniform of the dispatch, the others are storage
    kinds = [vk.VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER] + [vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER] * 7
    bindings = [
        vk.VkDescriptorSetLayoutBinding(
            binding=at, descriptorType=kind, descriptorCount=1, stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT
        )
        for at, kind in enumerate(kinds)
    ]
    descriptors = vk.vkCreateDescriptorSetLayout(
        device, vk.VkDescriptorSetLayoutCreateInfo(pBindings=bindings), None
    )
    layout = vk.vkCreatePipelineLayout(device, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[descriptors]), None)
    code = path.read_bytes()
    module = vk.vkCreateShaderModule(device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None)
    stage = vk.VkPipelineShaderStageCreateInfo(stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName="main")
    create = vk.VkComputePipelineCreateInfo(stage=stage, layout=layout)
    vk.vkCreateComputePipelines(device, vk.VK_NULL_HANDLE, 1, [create], None)


def statistics(path: Path, family: str) -> tuple[str, dict[str, int]]:
    """The driver's name and its numbers for one kernel."""
    drivers = sorted(Path("/usr/share/vulkan/icd.d").glob("radeon_icd*.json"))
    if not drivers:
        sys.exit("no radeon_icd*.json in /usr/share/vulkan/icd.d: install mesa-vulkan-drivers")
    environment = os.environ | {
        "VK_DRIVER_FILES": str(drivers[0]),
        "VK_ICD_FILENAMES": str(drivers[0]),
        "RADV_FORCE_FAMILY": family,
        "RADV_DEBUG": "shaderstats,nocache",
        "MESA_SHADER_CACHE_DISABLE": "1",
        "NODEVICE_SELECT": "1",
    }
    command = [sys.executable, __file__, "--one", str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    text = done.stderr
    if done.returncode != 0:
        sys.exit(f"{path.name}: the driver failed with status {done.returncode}:\n{text}")
    driver = re.search(r"driver: (.*)", text)
    numbers = {}
    for shown, name in ROWS.items():
        found = re.search(rf"^\s*{re.escape(shown)}:\s*(\d+)", text, re.MULTILINE)
        if found:
            numbers[name] = int(found.group(1))
    if "instructions" not in numbers:
        sys.exit(f"{path.name}: the driver printed no statistics:\n{text}")
    return driver.group(1) if driver else family, numbers


def worse(now: dict, recorded: dict) -> list[str]:
    """Numbers that are more than the tolerance above the recorded ones."""
    found = []
    for kernel, numbers in recorded.items():
        for name, before in numbers.items():
            value = now.get(kernel, {}).get(name)
            if value is None:
                found.append(f"{kernel}: no {name} any more")
            elif value > before * (1 + TOLERANCE):
                found.append(f"{kernel}: {name} {value}, recorded {before}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with the kernels as SPIR-V")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--family", default="GFX1100", help="card that the driver compiles for (default: %(default)s)")
    parser.add_argument("--compare", type=Path, help="recorded numbers")
    parser.add_argument("--write", type=Path, help="file to record the numbers in")
    arguments = parser.parse_args()
    if arguments.one:
        compile_on_null_device(arguments.folder)
        return
    kernels = sorted(arguments.folder.glob("*.spv"))
    if not kernels:
        sys.exit(f"no kernels (*.spv) in {arguments.folder}")
    if shutil.which("spirv-val"):
        for path in kernels:
            subprocess.run(["spirv-val", "--target-env", "vulkan1.1", str(path)], check=True)
    driver, now = "", {}
    for path in kernels:
        driver, now[path.stem] = statistics(path, arguments.family)
    names = [name for name in ROWS.values() if any(name in numbers for numbers in now.values())]
    print(f"{driver}\n\n| kernel | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for kernel, numbers in now.items():
        print(f"| {kernel} | {' | '.join(str(numbers.get(name, '')) for name in names)} |")
    if arguments.write:
        arguments.write.write_text(json.dumps({"driver": driver, "kernels": now}, indent=1) + "\n")
    if arguments.compare:
        recorded = json.loads(arguments.compare.read_text())
        if recorded["driver"] != driver:
            print(f"not compared: the numbers were recorded with {recorded['driver']}")
            return
        found = worse(now, recorded["kernels"])
        if found:
            sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
