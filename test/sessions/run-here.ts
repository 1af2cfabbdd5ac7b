import { runCli } from '../../src/cli/cli.ts';
import { sessionsCreate } from '../../src/cli/commands/sessions-create.ts';
import { FakeStream } from '../cli/fake-terminal.ts';

/** How a command line ended. */
export interface EndedHere {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `daywalk sessions create` inside this process, where a test needs no process of its own. */
export async function createHere(
  args: readonly string[],
  { env, input = '', cwd = '/' }: { env: Record<string, string>; input?: string; cwd?: string },
): Promise<EndedHere> {
  const stdout = new FakeStream();
  const stderr = new FakeStream();
  const code = await runCli({
    argv: ['sessions', 'create', ...args],
    env,
    directory: cwd,
    stdin: () => stdinOf(input),
    stdout,
    stderr,
    commands: [sessionsCreate],
    version: () => 'test',
    self: () => 'daywalk',
    onDefect: () => undefined,
    control: { on: () => undefined, off: () => undefined, exit: () => undefined },
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

async function* stdinOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
