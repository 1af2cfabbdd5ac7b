import { commands as all } from '../../../src/cli/commands.ts';
import { selfCommand } from '../../../src/cli/process/host.ts';
import type { Command } from '../../../src/cli/program/command.ts';
import { runCli } from '../../../src/cli/program/run-cli.ts';
import { expectNoCanary } from '../rig/canary-key.ts';
import { MAIN } from './daywalk-process.ts';
import { FakeStream } from './fake-terminal.ts';

/** How a command line ended. */
export interface EndedHere {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a whole command line, which must never print the API key of the rigs, inside this process, where a test needs its result and no process: to start one takes longer
 * than most commands do. Paths must be absolute: the working directory of this process does not change.
 */
export async function daywalkInProcess(
  args: readonly string[],
  {
    env = {},
    input = '',
    cwd = '/',
    commands = all,
  }: {
    env?: Readonly<Record<string, string>>;
    input?: string;
    cwd?: string;
    commands?: readonly Command[];
  } = {},
): Promise<EndedHere> {
  const stdout = new FakeStream();
  const stderr = new FakeStream();
  const code = await runCli({
    argv: args,
    env,
    directory: () => cwd,
    stdin: () => stdinOf(input),
    stdout,
    stderr,
    commands,
    version: () => 'test',
    self: () =>
      selfCommand({
        script: MAIN,
        node: process.execPath,
        searchPath: env['PATH'] ?? process.env['PATH'] ?? '',
      }),
    onDefect: () => undefined,
    control: { on: () => undefined, off: () => undefined, leave: () => undefined, exit: () => undefined },
  });
  expectNoCanary('what a command printed', stdout.text + stderr.text);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

async function* stdinOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
