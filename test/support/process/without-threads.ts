/** Options with which this version of Node permits everything that the program needs but threads. */
export const WITHOUT_THREADS = [
  '--experimental-permission',
  '--permission',
  '--allow-fs-read=*',
  '--allow-fs-write=*',
  '--allow-addons',
  '--allow-net',
].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag.replace('=*', '')));
