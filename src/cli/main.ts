#!/usr/bin/env node
const [command, ...rest] = process.argv.slice(2);
const asksForHelp = rest.includes('--help') || rest.includes('-h');

// The agent waits for the receiver of hook events at every step, so the receiver loads only its own few files.
if (command === 'hook' && !asksForHelp) {
  const { receiveAsProcess } = await import('./process/receive-hook.ts');
  await receiveAsProcess(rest);
} else {
  // Listens for signals before the rest is loaded, which takes ten times as long.
  const { exitAtEarlySignals } = await import('./process/early-signals.ts');
  exitAtEarlySignals();
  await import('./process/start.ts');
}
