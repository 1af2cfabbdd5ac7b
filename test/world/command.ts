import { fileURLToPath } from 'node:url';
import { commands } from '../../src/cli/commands.ts';
import { selfCommand } from '../../src/cli/process/host.ts';
import { runCli } from '../../src/cli/program/run-cli.ts';
import { FakeStream } from '../support/process/fake-terminal.ts';

/** How a command ended. */
export interface Ended {
  readonly line: string;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Runs a whole command line in this process. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Ended> {
  const [stdout, stderr] = [new FakeStream(), new FakeStream()];
  const code = await runCli({
    ...{ argv: args, env, stdout, stderr, commands },
    directory: () => cwd,
    stdin: () => noInput(),
    version: () => 'world',
    self: () => selfCommand({ script: MAIN, node: process.execPath, searchPath: '' }),
    onDefect: () => undefined,
    control: { on: () => undefined, off: () => undefined, leave: () => undefined, exit: () => undefined },
  });
  return { line: `daywalk ${args.join(' ')}`, code, stdout: stdout.text, stderr: stderr.text };
}

async function* noInput(): AsyncGenerator<Uint8Array> {
  yield* [];
}

/** The JSON document that a command printed. */
export function jsonOf({ line, code, stdout, stderr }: Ended): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(
      `${line} ended with ${code} and printed no JSON: ${stdout.slice(0, 200)} ${stderr.slice(0, 500)}`,
    );
  }
}

/** A field of a JSON value, by its path. */
export function fieldOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}
