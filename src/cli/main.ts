#!/usr/bin/env node
/** The versions of Node that run the program, as in package.json. */
const NODE_VERSIONS = '^22.19 || ^24 || >=26';

const [command, ...rest] = process.argv.slice(2);
const asksForHelp = rest.includes('--help') || rest.includes('-h');
const isHookCall = command === 'hook' && !asksForHelp;

function runsOn(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return NODE_VERSIONS.split(' || ').some((range) => {
    const [, sign = '', first = '', minorMin = '0'] = /^(\^|>=)(\d+)(?:\.(\d+))?$/.exec(range) ?? [];
    return major === Number(first) ? minor >= Number(minorMin) : sign === '>=' && major > Number(first);
  });
}

// An old Node cannot parse the other files, and the driver of SQLite would crash it. So this file imports none of them before.
if (!runsOn(process.versions.node)) {
  const needed = `needs Node ${NODE_VERSIONS}; this is Node ${process.versions.node} (${process.execPath})`;
  process.stderr.write(`daywalk${isHookCall ? ' hook' : ''}: ${needed}\n`);
  // Exit code 2 of a hook would block the agent.
  process.exitCode = isHookCall ? 0 : 2;
} else if (isHookCall) {
  // The agent waits for the receiver of hook events at every step, so the receiver loads only its own few files.
  const { receiveAsProcess } = await import('./process/receive-hook.ts');
  await receiveAsProcess(rest);
} else {
  // Listens for signals before the rest is loaded, which takes ten times as long.
  const { exitAtEarlySignals } = await import('./process/early-signals.ts');
  exitAtEarlySignals();
  await import('./process/start.ts');
}
