#!/usr/bin/env node
const [command, ...rest] = process.argv.slice(2);
const asksForHelp = rest.includes('--help') || rest.includes('-h');

// An agent waits for the receiver of its hook events at every step: it loads its own few files and no others.
if (command === 'hook' && !asksForHelp) {
  const { receiveAsProcess } = await import('./process/receive-hook.ts');
  await receiveAsProcess(rest);
} else {
  // Before the rest is loaded, which takes ten times as long as this.
  const { obeyEarly } = await import('./process/early-signals.ts');
  obeyEarly();
  await import('./process/start.ts');
}
