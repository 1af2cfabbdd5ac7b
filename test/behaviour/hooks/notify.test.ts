import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { desktopCommand, messageFor, NOTIFY_EVENTS } from '../../../src/hooks/notification.ts';
import { receive, spooledLines } from '../../support/hooks/receive-and-drain.ts';
import { MAIN } from '../../support/process/daywalk-process.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const NOTIFICATION = { hook_event_name: 'Notification', session_id: 's-1', cwd: '/work', message: 'may I?' };

interface Call {
  readonly path: string;
  readonly body: unknown;
}

/** A webhook that remembers its calls. */
async function webhook(answer: { status?: number; location?: string; silent?: boolean } = {}) {
  const calls: Call[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    calls.push({ path: request.url ?? '', body: JSON.parse(text) });
    if (answer.silent === true) return;
    response
      .writeHead(answer.status ?? 200, answer.location === undefined ? {} : { location: answer.location })
      .end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { calls, url: `http://127.0.0.1:${port}/hook?token=canary-token` };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let wait = 0; wait < 1_500 && !isTrue(); wait += 1) await delay(20);
  expect(isTrue()).toBe(true);
}

/** Receives an event with these settings; it is stored whatever becomes of the notification. */
async function notified(event: object, env: Record<string, string>, args: readonly string[] = []) {
  const spool = `${tempFile()}.spool`;
  const result = await receive(JSON.stringify(event), { args: ['--spool', spool, ...args], env });
  expect(result.code).toBe(0);
  expect(spooledLines(spool)).toHaveLength(1);
  return result;
}

/** A program for the desktop that writes down its arguments. */
function desktop(script = '') {
  const folder = tempDir();
  const seen = join(folder, 'seen');
  const program = join(folder, process.platform === 'darwin' ? 'osascript' : 'notify-send');
  writeFileSync(
    program,
    `#!/bin/sh\n${script}\nfor a in "$@"; do printf '%s\\n' "$a"; done > "${seen}.part"\nmv "${seen}.part" "${seen}"\n`,
  );
  chmodSync(program, 0o755);
  return { seen, env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, DAYWALK_NOTIFY: 'desktop' } };
}

describe('a webhook', () => {
  test('receives the text and the fields of the event', async () => {
    const { calls, url } = await webhook();
    const env = {
      DAYWALK_NOTIFY: 'webhook',
      DAYWALK_NOTIFY_WEBHOOK: url,
      DAYWALK_NOW: '2026-02-03T04:05:06Z',
    };
    expect(await notified(NOTIFICATION, env)).toMatchObject({ stdout: '', stderr: '' });
    await until(() => calls.length > 0);
    expect(calls).toEqual([
      {
        path: '/hook?token=canary-token',
        body: { ...NOTIFICATION, text: 'may I?', reason: null, received_at: '2026-02-03T04:05:06.000Z' },
      },
    ]);
  });

  test('of a chat receives only its text, by a template', async () => {
    const { calls, url } = await webhook();
    const env = {
      DAYWALK_NOTIFY: 'webhook',
      DAYWALK_NOTIFY_WEBHOOK: url,
      DAYWALK_NOTIFY_WEBHOOK_FORMAT: 'chat',
      DAYWALK_NOTIFY_TEMPLATE: '{hook_event_name} in {cwd}: {message}{none}',
    };
    await notified(NOTIFICATION, env);
    await until(() => calls.length > 0);
    expect(calls[0]?.body).toEqual({ text: 'Notification in /work: may I?' });
  });

  test.each(NOTIFY_EVENTS)('is called on %s', async (name) => {
    const { calls, url } = await webhook();
    await notified({ hook_event_name: name }, { DAYWALK_NOTIFY: 'webhook', DAYWALK_NOTIFY_WEBHOOK: url });
    await until(() => calls.length > 0);
    expect(calls[0]?.body).toMatchObject({ hook_event_name: name });
  });

  test('is not called for other events, for disabled events, or when it is off', async () => {
    const { calls, url } = await webhook();
    const env = { DAYWALK_NOTIFY: 'webhook', DAYWALK_NOTIFY_WEBHOOK: url };
    await notified({ hook_event_name: 'PostToolUse' }, env);
    await notified({ hook_event_name: 'Invented' }, env);
    await notified(NOTIFICATION, { ...env, DAYWALK_NOTIFY_EVENTS: 'Stop' });
    await notified(NOTIFICATION, { DAYWALK_NOTIFY_WEBHOOK: url });
    await notified(NOTIFICATION, { ...env, DAYWALK_NOTIFY: 'none' });
    // The one that is meant comes last, and alone.
    await notified(NOTIFICATION, env);
    await until(() => calls.length > 0);
    await delay(150);
    expect(calls).toHaveLength(1);
  });

  test('that never responds does not delay the receiver', async () => {
    const { calls, url } = await webhook({ silent: true });
    const env = {
      DAYWALK_NOTIFY: 'webhook',
      DAYWALK_NOTIFY_WEBHOOK: url,
      DAYWALK_NOTIFY_TIMEOUT_MS: '60000',
    };
    const { durationMs } = await notified(NOTIFICATION, env);
    // It would take a minute.
    expect(durationMs).toBeLessThan(30_000);
    await until(() => calls.length > 0);
  });

  test('that responds with a redirect is not followed', async () => {
    const other = await webhook();
    const { calls, url } = await webhook({ status: 307, location: other.url });
    await notified(NOTIFICATION, { DAYWALK_NOTIFY: 'webhook', DAYWALK_NOTIFY_WEBHOOK: url });
    await until(() => calls.length > 0);
    await delay(200);
    expect(other.calls).toEqual([]);
  });

  testVariants([
    ['http://example.com/canary', 'the webhook is http, and not on this machine'],
    ['ftp://example.com/canary', 'the webhook is not an http(s) URL'],
    ['canary', 'the webhook is not an http(s) URL'],
    ['https://user:canary@example.com/', 'the webhook has credentials in it'],
    ['', 'DAYWALK_NOTIFY_WEBHOOK holds no address'],
  ])('at %j is refused without showing the URL', async (url, reason) => {
    const { stderr } = await notified(NOTIFICATION, {
      DAYWALK_NOTIFY: 'webhook',
      DAYWALK_NOTIFY_WEBHOOK: url,
    });
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('canary');
  });

  test('is not read from the .env of the folder in which the agent works', async () => {
    const { calls, url } = await webhook();
    const cwd = tempDir();
    writeFileSync(join(cwd, '.env'), `DAYWALK_NOTIFY=webhook\nDAYWALK_NOTIFY_WEBHOOK=${url}\n`);
    await receive(JSON.stringify(NOTIFICATION), { cwd });
    await delay(200);
    expect(calls).toEqual([]);
    const shown = spawnSync(process.execPath, [MAIN, 'config'], { cwd, encoding: 'utf8', env: {} });
    expect(shown.stderr).toContain('DAYWALK_NOTIFY_WEBHOOK in .env line 2 has no effect');
    expect(shown.stdout + shown.stderr).not.toContain('canary-token');
  });
});

describe('the desktop', () => {
  test('shows title and text, without executing any of it', async () => {
    const { seen, env } = desktop();
    await notified({ ...NOTIFICATION, message: '--urgent <b>$(touch x)`\u001b[31m\n"end" & more' }, env);
    await until(() => existsSync(seen));
    const args = readFileSync(seen, 'utf8').trimEnd().split('\n');
    expect(args.slice(-2)).toEqual([
      'Agent: Notification',
      process.platform === 'darwin'
        ? '--urgent <b>$(touch x)` [31m "end" & more'
        : '--urgent &lt;b&gt;$(touch x)` [31m "end" &amp; more',
    ]);
  });

  test('without a notification program, or with one that hangs, does not delay the receiver', async () => {
    const { env } = desktop('sleep 40');
    const { durationMs, stderr } = await notified(NOTIFICATION, { ...env, DAYWALK_NOTIFY_TIMEOUT_MS: '100' });
    expect(durationMs).toBeLessThan(20_000);
    expect(stderr).toBe('');
    expect((await notified(NOTIFICATION, { PATH: '/none', DAYWALK_NOTIFY: 'desktop' })).stderr).toBe('');
  });

  test('is reached by osascript on macOS and by notify-send on other systems, with the text as a separate argument', () => {
    const words = { title: 'T', text: '" & (do shell script "x") & "' };
    const mac = desktopCommand('darwin', words);
    expect(mac.program).toBe('osascript');
    expect(mac.args.slice(-2)).toEqual(['T', words.text]);
    expect(mac.args.filter((arg) => arg.includes('do shell script'))).toEqual([words.text]);
    expect(desktopCommand('linux', words)).toMatchObject({
      program: 'notify-send',
      args: ['--app-name=daywalk', '--', 'T', expect.anything()],
    });
  });
});

describe('the bell', () => {
  test('rings on the terminal of the agent, and not on standard output', () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'out'));
    writeFileSync(join(folder, 'event.json'), JSON.stringify(NOTIFICATION));
    const line = `${process.execPath} ${MAIN} hook --spool ${folder}/s --notify bell < ${folder}/event.json > ${folder}/out/stdout 2> ${folder}/out/stderr`;
    // script(1) gives the receiver a terminal, and writes down what it shows.
    const ended = spawnSync('script', ['-qec', line, join(folder, 'typescript')], { stdio: 'ignore' });
    expect(ended.error).toBeUndefined();
    expect(readFileSync(join(folder, 'typescript'), 'utf8')).toContain('\u0007');
    expect(
      readFileSync(join(folder, 'out/stdout'), 'utf8') + readFileSync(join(folder, 'out/stderr'), 'utf8'),
    ).toBe('');
  });

  test('without a terminal is reported, and the event is stored', () => {
    const spool = `${tempFile()}.spool`;
    const call = [process.execPath, MAIN, 'hook', '--spool', spool, '--notify=bell'];
    const { status, stderr } = spawnSync('setsid', call, {
      input: JSON.stringify(NOTIFICATION),
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^daywalk hook: no bell: there is no terminal .*\n$/);
    expect(spooledLines(spool)).toHaveLength(1);
  });
});

test('invalid settings are reported, and the event is stored', async () => {
  const { stderr } = await notified(NOTIFICATION, { DAYWALK_NOTIFY: 'pigeon' }, [
    '--notify-timeout-ms',
    'soon',
  ]);
  expect(stderr).toContain('"pigeon" is not one of desktop, bell, webhook');
  expect(stderr).toContain('--notify-timeout-ms: "soon" is not a whole number');
});

describe('the text of a notification', () => {
  test('has a default sentence for each event', () => {
    const event = { cwd: '/w', message: 'm', reason: 'other', n: 5, o: {} };
    const texts = NOTIFY_EVENTS.map((name) => messageFor(name, event, null));
    expect(texts).toEqual([
      'm',
      'The agent finished a task in /w',
      'A subagent finished a task in /w',
      'The session in /w ended: other',
    ]);
    expect(messageFor('Stop', event, '{n} {o} {constructor} {__proto__} {reason}{')).toBe('5    other{');
    expect(messageFor('Notification', {}, null)).toBe('Notification');
  });

  test('is one line of limited length without control characters', () => {
    expect(messageFor('Notification', { message: 'a\n\u001b[2Jb\u202ec' }, null)).toBe('a [2Jb c');
    expect(messageFor('Notification', { message: '😀'.repeat(5_000) }, null).length).toBeLessThanOrEqual(500);
  });
});
