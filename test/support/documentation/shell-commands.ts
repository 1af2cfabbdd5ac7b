import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));

/** The shell commands of a page, from a heading to the next one of its level if one is named. */
export function commandsOf(page: string, heading = ''): string {
  const text = readFileSync(page, 'utf8');
  const level = /^#+ /.exec(heading)?.[0] ?? '## ';
  const rest = text.slice(text.indexOf(heading));
  const end =
    heading === '' ? -1 : rest.slice(heading.length).search(new RegExp(`^#{2,${level.length - 1}} `, 'm'));
  const section = end < 0 ? rest : rest.slice(0, heading.length + end);
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block).join('');
}

/** Runs commands in a folder, where `daywalk` and `npx daywalk` are the compiled program. */
export async function runCommands(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const bin = join(cwd, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = `exec "${process.execPath}" "${MAIN}" "$@"\n`;
  writeFileSync(join(bin, 'daywalk'), `#!/bin/sh\n${program}`, { mode: 0o755 });
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\n${program}`, { mode: 0o755 });
  const path = `${bin}:${process.env['PATH'] ?? ''}`;
  const child = spawn('sh', ['-ec', script], { cwd, env: { PATH: path, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}
