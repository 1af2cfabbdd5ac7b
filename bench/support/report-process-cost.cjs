// Preloaded into a measured process: on exit it writes its cost to file descriptor 3, as one line of JSON.
const { existsSync, readFileSync, writeSync } = require('node:fs');

const STATUS = '/proc/self/status';

process.on('exit', () => {
  const status = existsSync(STATUS) ? readFileSync(STATUS, 'utf8') : '';
  const peakKib = Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
  const { user, system } = process.cpuUsage();
  writeSync(3, `${JSON.stringify({ peakBytes: peakKib * 1024, cpuMs: (user + system) / 1000 })}\n`);
});
