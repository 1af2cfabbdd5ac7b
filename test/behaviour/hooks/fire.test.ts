import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drain, storedEvents } from '../../support/hooks/receive-and-drain.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, startDaywalk } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

type Hook = string | { type?: string; command?: unknown; timeout?: unknown };
const entry = (hooks: readonly Hook[], matcher?: string) => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: hooks.map((hook) => (typeof hook === 'string' ? { type: 'command', command: hook } : hook)),
});

/** A hooks file in a separate folder, with a function to fire events. */
function configured(events: object) {
  const folder = tempDir();
  const file = join(folder, 'hooks.json');
  writeFileSync(file, JSON.stringify(events));
  const fire = async (event: string, ...more: string[]) => {
    const { code, stdout, stderr } = await daywalkInProcess(
      ['hooks', 'fire', event, '--file', file, '--json', ...more],
      { cwd: folder },
    );
    return { code, stderr, ...(code === 0 ? JSON.parse(stdout) : {}) };
  };
  return { folder, file, fire };
}

/** True if the process whose ID is in a file has not ended; one that nobody waits for remains as a zombie. */
function isAlive(file: string): boolean {
  const pid = Number(readFileSync(file, 'utf8'));
  try {
    process.kill(pid, 0);
    return pid !== 0 && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // No such file, but a process: a system without /proc.
    return process.platform !== 'linux' && error instanceof Error && /ENOENT/.test(error.message);
  }
}

const commandsOf = ({ hooks }: { hooks: { command: string }[] }) => hooks.map(({ command }) => command);

test('an event has the fields that the client sends, and given fields override them', async () => {
  const { fire } = configured({ Stop: [entry(['cat'])], SessionEnd: [entry(['cat'])] });
  const eventOf = ({ hooks }: { hooks: { stdout: string }[] }) => JSON.parse(hooks[0]?.stdout ?? '');
  const stop = eventOf(await fire('Stop'));
  expect(stop).toMatchObject({ transcript_path: devNull, permission_mode: 'default' });
  expect(readFileSync(stop.transcript_path, 'utf8')).toBe('');
  expect(stop).not.toHaveProperty('reason');
  const end = await fire('SessionEnd');
  expect(eventOf(end)).toMatchObject({
    hook_event_name: 'SessionEnd',
    session_id: 'daywalk-hooks-fire',
    transcript_path: devNull,
    permission_mode: 'default',
    reason: 'other',
  });
  const payload = join(tempDir(), 'event.json');
  const given = { reason: 'error', permission_mode: 'plan', transcript_path: '/t.jsonl' };
  writeFileSync(payload, JSON.stringify(given));
  expect(eventOf(await fire('SessionEnd', '--payload', payload))).toMatchObject(given);
});

describe('the exit code of a hook', () => {
  const BLOCKABLE = ['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop'];
  const OTHERS = ['PostToolUse', 'Notification', 'PreCompact', 'SessionStart', 'SessionEnd', 'Invented'];

  test.each([...BLOCKABLE, ...OTHERS])('has the effect on %s that section 6 specifies', async (event) => {
    const exits = ['exit 0', 'exit 1', 'exit 2', 'exit 3', 'kill -9 $$'];
    const fired = await configured({ [event]: [entry(exits)] }).fire(event);
    const blocks = BLOCKABLE.includes(event);
    expect(fired.hooks.map(({ verdict }: { verdict: string }) => verdict)).toEqual([
      'proceeds',
      'failed',
      blocks ? 'blocks' : 'failed',
      'failed',
      'failed',
    ]);
    expect(fired).toMatchObject({ code: 0, blocked: blocks });
  });

  test('of a missing program fails, and delays neither other hooks nor the agent', async () => {
    const fired = await configured({ Notification: [entry(['/no/such/program', 'echo ok'])] }).fire(
      'Notification',
    );
    expect(fired).toMatchObject({
      blocked: false,
      hooks: [{ exitCode: 127, verdict: 'failed' }, { stdout: 'ok\n' }],
    });
  });
});

describe('the hooks that run', () => {
  test('are those whose matcher is exactly the tool name, with case', async () => {
    const { fire } = configured({
      PreToolUse: [
        entry(['echo all']),
        entry(['echo star'], '*'),
        entry(['echo edit'], 'Edit'),
        entry(['echo either'], 'Edit|Write'),
        entry(['echo lower'], 'edit'),
        entry(['echo part'], 'Ed'),
        entry(['echo any'], '.*'),
      ],
    });
    const always = ['echo all', 'echo star'];
    expect(commandsOf(await fire('PreToolUse', '--tool', 'Edit'))).toEqual([
      ...always,
      'echo edit',
      'echo either',
      'echo any',
    ]);
    expect(commandsOf(await fire('PreToolUse', '--tool', 'Write'))).toEqual([
      ...always,
      'echo either',
      'echo any',
    ]);
    expect(commandsOf(await fire('PreToolUse', '--tool', 'edit'))).toEqual([
      ...always,
      'echo lower',
      'echo any',
    ]);
  });

  test('ignore matchers for other events', async () => {
    expect(commandsOf(await configured({ Stop: [entry(['echo a'], 'Edit')] }).fire('Stop'))).toEqual([
      'echo a',
    ]);
  });

  test('exclude invalid regular expressions, types and commands, and report them', async () => {
    const { fire } = configured({
      PostToolUse: [
        entry(['echo never'], '(['),
        entry([{ type: 'prompt', command: 'echo never' }, { type: 'command' }, 'echo ran']),
        entry([{ type: 'command', command: 'echo bounded', timeout: -1 }]),
      ],
    });
    const fired = await fire('PostToolUse', '--tool', 'Edit');
    expect(commandsOf(fired)).toEqual(['echo ran', 'echo bounded']);
    expect(fired.hooks[1].timeoutSeconds).toBe(60);
    expect(fired.problems).toEqual([
      expect.stringMatching(/^PostToolUse, entry 1, hook 1: the matcher is not a regular expression/),
      expect.stringMatching(/^PostToolUse, entry 2, hook 1: the type "prompt" is unknown/),
      expect.stringMatching(/^PostToolUse, entry 2, hook 2: it has no command/),
      expect.stringMatching(/^PostToolUse, entry 3, hook 1: the time-out -1 is not/),
    ]);
    expect(fired.stderr).toContain('the matcher is not a regular expression');
  });

  test('run once if their commands are identical, in both forms of the file', async () => {
    const events = {
      Stop: [entry(['echo x >> ran', 'echo x >> ran']), entry(['echo x >> ran', 'echo y >> other'])],
    };
    for (const shape of [events, { hooks: events, model: 'm' }]) {
      const { folder, fire } = configured(shape);
      expect(commandsOf(await fire('Stop'))).toEqual(['echo x >> ran', 'echo y >> other']);
      expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('x\n');
    }
  });

  test('run at the same time', async () => {
    // Each waits for the other: in a row the first would never end.
    const both = configured({
      Stop: [
        entry([{ type: 'command', command: 'touch a; while [ ! -e b ]; do sleep 0.02; done', timeout: 5 }]),
        entry([{ type: 'command', command: 'touch b; while [ ! -e a ]; do sleep 0.02; done', timeout: 5 }]),
      ],
    });
    expect((await both.fire('Stop')).hooks).toMatchObject([{ verdict: 'proceeds' }, { verdict: 'proceeds' }]);
  });

  test('are none for an event without hooks', async () => {
    const { fire, file } = configured({ Stop: [] });
    expect(await fire('Stop')).toMatchObject({ code: 0, blocked: false, hooks: [], problems: [] });
    const { stdout } = await daywalkInProcess(['hooks', 'fire', 'Invented', '--file', file]);
    expect(stdout).toBe('no hook is configured for Invented\n');
  });
});

describe('a hook', () => {
  test('receives the event as one JSON object on standard input', async () => {
    const { folder, fire } = configured({ PostToolUse: [entry(['cat'])] });
    const payload = join(folder, 'event.json');
    const own = { session_id: 's-9', tool_input: { path: '/x' }, more: [1] };
    writeFileSync(payload, JSON.stringify({ ...own, tool_name: 'Bash' }));
    const fired = await fire('PostToolUse', '--tool', 'Edit', '--payload', payload);
    expect(JSON.parse(fired.hooks[0].stdout)).toEqual({
      hook_event_name: 'PostToolUse',
      session_id: 's-9',
      transcript_path: devNull,
      cwd: folder,
      permission_mode: 'default',
      tool_name: 'Edit',
      tool_input: { path: '/x' },
      more: [1],
    });
  });

  test('receives the standard input of the command', async () => {
    const { file, folder } = configured({ Stop: [entry(['cat'])] });
    const call = ['hooks', 'fire', 'Stop', '--file', file, '--payload', '-', '--json'];
    const { stdout } = await daywalk(call, { cwd: folder, input: '{"a":1}' });
    expect(JSON.parse(JSON.parse(stdout).hooks[0].stdout)).toMatchObject({ a: 1, hook_event_name: 'Stop' });
  });

  test('that exceeds its time-out is killed with all processes that it started', {
    tags: 'ci/rare',
  }, async () => {
    const { folder, fire } = configured({
      Notification: [
        entry([{ type: 'command', command: 'sleep 60 & echo $! > started; sleep 60', timeout: 2 }]),
      ],
    });
    const fired = await fire('Notification');
    expect(fired).toMatchObject({
      blocked: false,
      hooks: [{ verdict: 'timed out', exitCode: null, timedOut: true }],
    });
    expect(fired.hooks[0].durationMs).toBeLessThan(30_000);
    await expect.poll(() => isAlive(join(folder, 'started'))).toBe(false);
  });

  test('that leaves a process running is not waited for, and a flood of output is bounded', async () => {
    const { fire } = configured({
      Stop: [entry(['sleep 40 & echo done', 'head -c 5000000 /dev/zero | tr "\\0" x'])],
    });
    const startedAt = performance.now();
    const { hooks } = await fire('Stop');
    expect(hooks[0]).toMatchObject({ stdout: 'done\n', verdict: 'proceeds' });
    expect(hooks[1].stdout).toHaveLength(64 * 1024);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  test('is killed when the dispatcher is stopped', async () => {
    const { folder, file } = configured({ Stop: [entry(['echo $$ > started; sleep 60; true'])] });
    const { child, ended } = startDaywalk(['hooks', 'fire', 'Stop', '--file', file], { cwd: folder });
    const started = join(folder, 'started');
    await expect.poll(() => existsSync(started) && isAlive(started)).toBe(true);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(143);
    await expect.poll(() => isAlive(started)).toBe(false);
  });
});

test('a table shows what each hook did, without control codes from outside', async () => {
  const { file } = configured({ Stop: [entry(["printf '\\033[31mred' >&2; exit 2", 'true'])] });
  const { code, stdout } = await daywalk(['hooks', 'fire', 'Stop', '--file', file]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^blocks +2 /m);
  expect(stdout).toMatch(/^proceeds +0 /m);
  expect(stdout).toContain('blocked: the agent would not continue');
  expect(stdout).not.toContain('\u001b');
});

test('a field of an unexpected type is reported, and passed on', async () => {
  const { fire, folder } = configured({ Notification: [entry(['cat'])] });
  writeFileSync(join(folder, 'event.json'), '{"message": 7}');
  const fired = await fire('Notification', '--payload', 'event.json');
  expect(fired.stderr).toContain('message does not have the type that the client tool sends');
  expect(JSON.parse(fired.hooks[0].stdout)).toMatchObject({ message: 7 });
});

test('usage errors exit with 2', async () => {
  const { file, folder } = configured({ Stop: [] });
  const refused = async (...args: string[]) =>
    (await daywalkInProcess(['hooks', 'fire', ...args], { cwd: folder })).code;
  expect(await refused('Stop')).toBe(2);
  expect(await refused('--file', file)).toBe(2);
  expect(await refused('Stop', '--file', join(folder, 'none.json'))).toBe(2);
  expect(await refused('Stop', '--file', file, '--payload', join(folder, 'none.json'))).toBe(2);
  writeFileSync(join(folder, 'list.json'), '[]');
  expect(await refused('Stop', '--file', file, '--payload', 'list.json')).toBe(2);
});

test('round trip: an installed hook fires, is received and drained, and becomes a row', async () => {
  const folder = tempDir();
  const file = join(folder, 'hooks.json');
  const warehouse = join(folder, 'warehouse.db');
  await daywalkInProcess(['hooks', 'install', '--file', file, '--warehouse', warehouse, '--event', 'all']);
  const agent = tempDir();
  const fire = (event: string, payload: object, ...more: string[]) =>
    daywalkInProcess(['hooks', 'fire', event, '--file', file, '--payload', '-', '--json', ...more], {
      cwd: agent,
      input: JSON.stringify(payload),
    });
  const events: [string, object, ...string[]][] = [
    ['Notification', { session_id: 's-1', message: 'may I?' }],
    ['Stop', { session_id: 's-1', stop_hook_active: false }],
    ['SubagentStop', { session_id: 's-1' }],
    ['SessionEnd', { session_id: 's-1', reason: 'error' }],
    ['PostToolUse', { session_id: 's-1', tool_response: { ok: true } }, '--tool', 'Edit'],
  ];
  for (const [event, payload, ...more] of events) {
    const { stdout } = await fire(event, payload, ...more);
    expect(JSON.parse(stdout)).toMatchObject({
      blocked: false,
      hooks: [{ verdict: 'proceeds', stdout: '', stderr: '' }],
    });
  }
  expect(await drain(warehouse)).toMatchObject({ stored: 5 });
  const rows = storedEvents(warehouse);
  expect(
    rows.map(({ hook_event_name, session_id, cwd, message, reason }) => [
      hook_event_name,
      session_id,
      cwd,
      message,
      reason,
    ]),
  ).toEqual([
    ['Notification', 's-1', agent, 'may I?', null],
    ['Stop', 's-1', agent, null, null],
    ['SubagentStop', 's-1', agent, null, null],
    ['SessionEnd', 's-1', agent, null, 'error'],
    ['PostToolUse', 's-1', agent, null, null],
  ]);
  expect(JSON.parse(rows[4]?.['payload'] ?? '')).toMatchObject({
    tool_name: 'Edit',
    tool_response: { ok: true },
  });
});
