// Loaded before a publish: kills the process as it enters its n-th change of the file system below a folder, the way a
// power cut or the OOM killer would. KILL_AT=0 only counts, and tells how many there were.
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { KILL_AT = '0', KILL_BELOW = '' } = process.env;
let count = 0;

function step() {
  count += 1;
  if (count === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL');
}

for (const name of ['mkdir', 'rename', 'rm', 'rmdir']) {
  const real = promises[name];
  promises[name] = (path, ...rest) => {
    if (String(path).startsWith(KILL_BELOW)) step();
    return real(path, ...rest);
  };
}

const { open } = promises;
promises.open = async (path, ...rest) => {
  if (!String(path).startsWith(KILL_BELOW)) return open(path, ...rest);
  step();
  const file = await open(path, ...rest);
  for (const name of ['sync', 'writeFile']) {
    const real = file[name].bind(file);
    file[name] = (...args) => {
      step();
      return real(...args);
    };
  }
  return file;
};

syncBuiltinESMExports();
process.on('exit', () => process.stderr.write(`steps ${count}\n`));
