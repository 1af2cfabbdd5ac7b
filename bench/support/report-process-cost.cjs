// Preloaded into a measured process: on exit it writes its cost to file descriptor 3, as one line of JSON.
const { existsSync, readFileSync, writeSync } = require('node:fs');

const STATUS = '/proc/self/status';
const IO = '/proc/self/io';

process.on('exit', () => {
  const status = existsSync(STATUS) ? readFileSync(STATUS, 'utf8') : '';
  const peakKib = Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
  // Bytes of all writing calls of all threads. Unlike `write_bytes` it is the same on every file system, also in memory,
  // and does not depend on when the kernel writes pages to the disk.
  const written = existsSync(IO) ? /^wchar:\s*(\d+)/m.exec(readFileSync(IO, 'utf8'))?.[1] : undefined;
  const writtenBytes = written === undefined ? null : Number(written);
  const { user, system } = process.cpuUsage();
  const cost = { peakBytes: peakKib * 1024, cpuMs: (user + system) / 1000, writtenBytes };
  writeSync(3, `${JSON.stringify(cost)}\n`);
});
