/* An OpenCL layer that lies as drivers of boards do: `OPENCL_LAYERS=layer.so GPUBENCH_BOARD=embedded,old`.
 *
 * embedded      the embedded profile, without 64-bit integers and doubles
 * old           OpenCL 1.1: queries, functions and options of 1.2 do not exist
 * no-profiling  queues with timestamps are refused, as on a Raspberry Pi 5
 * quiet         nor does the device say that it had any
 * tiny          the smallest limits that the embedded profile allows, and they are enforced
 * no-parts      no sub-buffers
 * no-clock      a clock of 1 MHz
 * no-images     no images
 * no-host-ptr   no buffers over the host's memory
 * odd-align     sub-buffers begin at multiples of 32 KiB
 * flush         denormals are zero, as far as the driver says
 * toward-zero   numbers are rounded towards zero, as far as the driver says
 * coarse        `exp` is wrong by a ten-thousandth
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_layer.h>
#include <stdlib.h>
#include <string.h>

static cl_icd_dispatch layer;
static const cl_icd_dispatch *driver;

static int lies(const char *what) {
    const char *all = getenv("GPUBENCH_BOARD");
    size_t length = strlen(what);
    while (all && *all) {
        size_t next = strcspn(all, ",");
        if (next == length && !strncmp(all, what, length)) return 1;
        all += next + (all[next] == ',');
    }
    return 0;
}

static cl_int answer(const void *value, size_t bytes, size_t size, void *out, size_t *size_ret) {
    if (size_ret) *size_ret = bytes;
    if (!out) return CL_SUCCESS;
    if (size < bytes) return CL_INVALID_VALUE;
    memcpy(out, value, bytes);
    return CL_SUCCESS;
}

#define SAY(type, ...) { type value = __VA_ARGS__; return answer(&value, sizeof value, size, out, size_ret); }
#define TEXT(value) return answer(value, sizeof value, size, out, size_ret)

#define MAX_GROUP 64
#define MAX_ALLOC (1 << 20)
struct sizes { size_t x, y, z; };

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size, void *out, size_t *size_ret) {
    if (lies("embedded")) switch (what) {
        case CL_DEVICE_PROFILE: TEXT("EMBEDDED_PROFILE");
        case CL_DEVICE_EXTENSIONS: TEXT("cl_khr_byte_addressable_store");
        case CL_DEVICE_DOUBLE_FP_CONFIG: SAY(cl_ulong, 0)
    }
    if (lies("old")) {
        switch (what) {
            case CL_DEVICE_VERSION: TEXT("OpenCL 1.1 a board's");
            case CL_DEVICE_OPENCL_C_VERSION: TEXT("OpenCL C 1.1 ");
        }
        /* CL_DEVICE_DOUBLE_FP_CONFIG and what came with 1.2 and later. */
        if (what == 0x1032 || (what > CL_DEVICE_OPENCL_C_VERSION && what < 0x4000)) return CL_INVALID_VALUE;
    }
    if (lies("tiny")) switch (what) {
        case CL_DEVICE_MAX_WORK_GROUP_SIZE: SAY(size_t, MAX_GROUP)
        case CL_DEVICE_MAX_WORK_ITEM_SIZES: SAY(struct sizes, {MAX_GROUP, MAX_GROUP, MAX_GROUP})
        case CL_DEVICE_LOCAL_MEM_SIZE: SAY(cl_ulong, 1024)
        case CL_DEVICE_MAX_MEM_ALLOC_SIZE: SAY(cl_ulong, MAX_ALLOC)
        case CL_DEVICE_GLOBAL_MEM_SIZE: SAY(cl_ulong, 16 * MAX_ALLOC)
        case CL_DEVICE_MAX_PARAMETER_SIZE: SAY(size_t, 256)
        case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: SAY(cl_ulong, 0)
    }
    if (what == CL_DEVICE_SINGLE_FP_CONFIG) {
        if (lies("flush")) SAY(cl_device_fp_config, CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST)
        if (lies("toward-zero")) SAY(cl_device_fp_config, CL_FP_DENORM | CL_FP_ROUND_TO_ZERO)
    }
    if (lies("no-images") && what == CL_DEVICE_IMAGE_SUPPORT) SAY(cl_bool, CL_FALSE)
    if (lies("no-clock") && what == CL_DEVICE_MAX_CLOCK_FREQUENCY) SAY(cl_uint, 1)
    if (lies("odd-align") && what == CL_DEVICE_MEM_BASE_ADDR_ALIGN) SAY(cl_uint, 8 * 32768)
    if (lies("quiet") && what == CL_DEVICE_QUEUE_PROPERTIES) SAY(cl_command_queue_properties, 0)
    return driver->clGetDeviceInfo(device, what, size, out, size_ret);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *status) {
    if (properties & CL_QUEUE_PROFILING_ENABLE && lies("no-profiling")) {
        if (status) *status = CL_INVALID_QUEUE_PROPERTIES;
        return NULL;
    }
    return driver->clCreateCommandQueue(context, device, properties, status);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status) {
    if (lies("tiny") && size > MAX_ALLOC) {
        if (status) *status = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    if (lies("no-host-ptr") && flags & CL_MEM_USE_HOST_PTR) {
        if (status) *status = CL_INVALID_HOST_PTR;
        return NULL;
    }
    return driver->clCreateBuffer(context, flags, size, host, status);
}

static cl_mem CL_API_CALL create_part(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void *info, cl_int *status) {
    const cl_buffer_region *region = info;
    cl_int wrong = lies("no-parts") ? CL_INVALID_OPERATION : 0;
    if (lies("odd-align") && region->origin % 32768) wrong = CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (wrong) {
        if (status) *status = wrong;
        return NULL;
    }
    return ((cl_mem (CL_API_CALL *)(cl_mem, cl_mem_flags, cl_buffer_create_type, const void *, cl_int *))driver->clCreateSubBuffer)(buffer, flags, type, info, status);
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *status) {
    if (!lies("coarse") || count != 1) return driver->clCreateProgramWithSource(context, count, texts, lengths, status);
    const char *both[] = {"#undef exp\n#define exp(x) (native_exp(x) * 1.0001f)\n", texts[0]};
    const size_t sizes[] = {0, lengths ? lengths[0] : 0};
    return driver->clCreateProgramWithSource(context, 2, both, sizes, status);
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options, void (CL_CALLBACK *notify)(cl_program, void *), void *user) {
    if (lies("old") && options && (strstr(options, "-cl-kernel-arg-info") || strstr(options, "CL1.2"))) return CL_INVALID_BUILD_OPTIONS;
    return driver->clBuildProgram(program, count, devices, options, notify, user);
}

static cl_int CL_API_CALL argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t size, void *out, size_t *size_ret) {
    if (lies("old")) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    return ((cl_int (CL_API_CALL *)(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void *, size_t *))driver->clGetKernelArgInfo)(kernel, index, what, size, out, size_ret);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local, cl_uint waits, const cl_event *events, cl_event *event) {
    if (lies("tiny") && local) {
        size_t group = 1;
        for (cl_uint i = 0; i < dimensions; i++) group *= local[i];
        if (group > MAX_GROUP) return CL_INVALID_WORK_GROUP_SIZE;
    }
    return driver->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, events, event);
}

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *out, size_t *size_ret) {
    switch (what) {
        case CL_LAYER_API_VERSION: SAY(cl_layer_api_version, CL_LAYER_API_VERSION_100)
        case CL_LAYER_NAME: TEXT("gpubench's boards");
    }
    return CL_INVALID_VALUE;
}

cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_ret, const cl_icd_dispatch **layer_ret) {
    if (!target || !count_ret || !layer_ret || count < sizeof layer / sizeof(void *)) return CL_INVALID_VALUE;
    driver = target;
    layer.clGetDeviceInfo = device_info;
    layer.clCreateCommandQueue = create_queue;
    layer.clCreateBuffer = create_buffer;
    *(void **)&layer.clCreateSubBuffer = (void *)create_part;
    layer.clCreateProgramWithSource = create_program;
    layer.clBuildProgram = build;
    *(void **)&layer.clGetKernelArgInfo = (void *)argument_info;
    layer.clEnqueueNDRangeKernel = launch;
    *count_ret = sizeof layer / sizeof(void *);
    *layer_ret = &layer;
    return CL_SUCCESS;
}
