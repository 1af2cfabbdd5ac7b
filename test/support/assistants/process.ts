import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { isObject, parseJson } from '../../../src/core/json.ts';
import { MAIN } from '../process/daywalk-process.ts';

/** A `daywalk mcp` that reads from a pipe that stays open. */
export interface McpProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Lines of the log so far. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** Sends a request, and waits for its response. */
  ask(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a request. */
  send(method: string, params?: object): void;
}

/** Starts the compiled program, as a client does, until the test ends. */
export function startMcp(args: readonly string[], env: Readonly<Record<string, string>>): McpProcess {
  const child = spawn(process.execPath, [MAIN, 'mcp', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  onTestFinished(() => void child.kill('SIGKILL'));
  const log: Readonly<Record<string, unknown>>[] = [];
  const waiting = new Map<unknown, (response: Readonly<Record<string, unknown>>) => void>();
  const parsed = (line: string) => {
    const value = parseJson(line);
    return isObject(value) ? value : {};
  };
  createInterface(child.stderr).on('line', (line) => log.push(parsed(line)));
  createInterface(child.stdout).on('line', (line) => {
    const response = parsed(line);
    waiting.get(response['id'])?.(response);
  });
  let id = 0;
  const send = (method: string, params: object = {}) => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  };
  return {
    child,
    log,
    send,
    ended: new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal }))),
    ask: (method, params) => {
      const answered = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
        waiting.set(id + 1, resolve);
      });
      send(method, params);
      return answered;
    },
  };
}

/** The first message of a client of 2025. */
export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
} as const;
