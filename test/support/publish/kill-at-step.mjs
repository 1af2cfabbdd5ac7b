// Preloaded into a publish: kills the process as it enters its n-th file system change below a folder, like a
// power cut or the OOM killer. A process that is not killed prints its steps, one per line.
import fs, { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { KILL_AT = '0', KILL_BELOW = '' } = process.env;
const steps = [];

function step(name, ...paths) {
  steps.push(`${name} ${paths.join(' ')}`);
  if (steps.length === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL');
}

for (const name of ['mkdir', 'rename', 'link', 'rm', 'rmdir']) {
  const real = promises[name];
  promises[name] = (path, ...rest) => {
    if (String(path).startsWith(KILL_BELOW))
      step(name, path, ...rest.filter((value) => typeof value === 'string'));
    return real(path, ...rest);
  };
}

const { open } = promises;
promises.open = async (path, ...rest) => {
  if (!String(path).startsWith(KILL_BELOW)) return open(path, ...rest);
  step('open', path);
  const file = await open(path, ...rest);
  for (const name of ['sync', 'writeFile']) {
    const real = file[name].bind(file);
    file[name] = (...args) => {
      step(name, path);
      return real(...args);
    };
  }
  return file;
};

// A lake opens files by this call only to sync a folder.
const { openSync } = fs;
fs.openSync = (path, ...rest) => {
  if (String(path).startsWith(KILL_BELOW)) step('sync', path);
  return openSync(path, ...rest);
};

syncBuiltinESMExports();
process.on('exit', () => {
  process.stderr.write(steps.map((what, index) => `step ${index + 1}: ${what}\n`).join(''));
});
