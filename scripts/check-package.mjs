// Packs the package, installs the tarball in an empty project, and uses the command and the library.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'daywalk-package-'));
const run = (command, args, options = {}) =>
  execFileSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });

try {
  const packed = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root }));
  const { filename, files } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
  const stray = files
    .map((file) => file.path)
    .filter((path) => /^(src|test|schema|jobs|bench|scripts|out)\//.test(path));
  if (stray.length > 0) throw new Error(`the tarball contains sources: ${stray.slice(0, 3).join(', ')}`);

  const types = files.map((file) => file.path).filter((path) => path.endsWith('.d.ts'));
  if (types.join() !== 'dist/src/emulator/index.d.ts,dist/src/index.d.ts')
    throw new Error(`the tarball has other types than one file per entry: ${types.slice(0, 5).join(', ')}`);

  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'user', private: true, type: 'module' }),
  );
  run('npm', ['install', '--no-audit', '--no-fund', join(folder, filename)]);

  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const said = run('npx', ['daywalk', '--version']);
  if (!said.includes(version)) throw new Error(`daywalk --version printed ${said}`);
  run('npx', ['daywalk', 'demo']);

  await askAssistant();

  writeFileSync(
    join(folder, 'use.mjs'),
    `import { createClient } from 'daywalk';
     import { startEmulator } from 'daywalk/emulator';
     const emulator = await startEmulator({ today: '2026-03-01', users: 3 });
     const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.url });
     const { data } = await client.activity({ startDate: '2026-02-01', endDate: '2026-02-01' });
     console.log(data[0].date);
     await client.close();
     await emulator.close();`,
  );
  if (run('node', ['use.mjs']).trim() !== '2026-02-01')
    throw new Error('the library returned something else');
  process.stdout.write(`the package works: ${files.length} files\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Asks `npx daywalk mcp` about the demo, as a client that starts it does. */
async function askAssistant() {
  const server = spawn('npx', ['daywalk', 'mcp', '--warehouse', 'daywalk-demo.db'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'check-package', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  });
  send({ method: 'notifications/initialized' });
  send({
    id: 2,
    method: 'tools/call',
    params: { name: 'query_metric', arguments: { metric: 'active_users' } },
  });
  for await (const line of createInterface(server.stdout)) {
    const { id, result } = JSON.parse(line);
    if (id !== 2) continue;
    server.stdin.end();
    if (!(result?.structuredContent?.total > 0)) throw new Error(`daywalk mcp answered ${line}`);
    return;
  }
  throw new Error('daywalk mcp ended without an answer');
}
