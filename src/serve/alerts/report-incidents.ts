import { StorageError } from '../../core/errors.ts';
import type { Warehouse } from '../../port/index.ts';
import { readState, STATES, writeState } from '../../records/index.ts';
import type { Scope } from './incidents.ts';
import {
  applyDelivery,
  applyExamination,
  type Due,
  dueIn,
  type IncidentState,
  mergeStates,
  NO_INCIDENTS,
  parseState,
  stateText,
} from './incidents.ts';

/** Where states are kept and messages go. `load` and `save` may throw. */
export interface IncidentPorts {
  load(scope: string): Promise<IncidentState>;
  save(scope: string, state: IncidentState): Promise<void>;
  /** Sends one message about all scopes. True if it was delivered. */
  send(due: readonly (Due & { readonly scope: string })[]): Promise<boolean>;
}

/** A state as this process knows it. */
interface Remembered {
  readonly state: IncidentState;
  /** False if the stored state could not be read, which may hold more incidents. */
  readonly isWhole: boolean;
  readonly isStored: boolean;
}

/** States by scope. A service keeps them between rounds, for those in which the warehouse cannot be used. */
export type IncidentMemory = Map<string, Remembered>;

interface Held extends Omit<Remembered, 'isStored'> {
  readonly scope: string;
}

interface Reporting {
  /** The instant of the round, as ISO text. */
  readonly at: string;
  readonly ports: IncidentPorts;
  readonly memory: IncidentMemory;
}

/**
 * Examines every scope, sends one message about what began and what ended, and remembers what was delivered. The state is
 * stored before the message is sent, so nothing is lost and every message about an incident has the same ID; and after it
 * was delivered. A process that is killed between delivery and storage sends the message again.
 */
export async function reportIncidents(scopes: readonly Scope[], reporting: Reporting): Promise<void> {
  const held: Held[] = [];
  for (const scope of scopes) held.push(await examineScope(scope, reporting));
  const messages = held
    .map(({ scope, state }) => ({ scope, ...dueIn(state) }))
    .filter(({ opened, over }) => opened.length + over.length > 0);
  if (messages.length === 0 || !(await reporting.ports.send(messages))) return;
  const sent = new Set(messages.map(({ scope }) => scope));
  for (const { scope, state, isWhole } of held) {
    if (sent.has(scope)) await save({ scope, state: applyDelivery(state), isWhole }, reporting);
  }
}

async function examineScope({ scope, examine }: Scope, reporting: Reporting): Promise<Held> {
  const { state: before, isWhole, isStored } = await load(scope, reporting);
  const examination = await examine(before);
  const state =
    examination === null ? before : applyExamination(before, examination, { scope, at: reporting.at });
  const held = { scope, state, isWhole };
  if (isStored && isSame(before, state)) reporting.memory.set(scope, { state, isWhole, isStored });
  else await save(held, reporting);
  return held;
}

async function load(scope: string, { ports, memory }: Reporting): Promise<Remembered> {
  const own = memory.get(scope);
  if (own?.isWhole === true && !own.isStored) return own;
  try {
    const stored = await ports.load(scope);
    const isNews = own !== undefined && !own.isStored && own.state.incidents.length > 0;
    const state = isNews ? mergeStates(stored, own.state) : stored;
    return { state, isWhole: true, isStored: !isNews };
  } catch {
    return own ?? { state: NO_INCIDENTS, isWhole: false, isStored: false };
  }
}

/** Stores a state, and remembers it. A part of a state must not replace the whole one. */
async function save({ scope, state, isWhole }: Held, { ports, memory }: Reporting): Promise<void> {
  try {
    if (isWhole) await ports.save(scope, state);
    memory.set(scope, { state, isWhole, isStored: isWhole });
  } catch {
    memory.set(scope, { state, isWhole, isStored: false });
  }
}

function isSame(a: IncidentState, b: IncidentState): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

type States = Omit<IncidentPorts, 'send'>;

/** Keeps states in the warehouse. */
export function warehouseStates(warehouse: Pick<Warehouse, 'read' | 'transact'>): States {
  return {
    load: async (scope) => parseState(await readState(warehouse, scope, STATES.incidents)),
    save: (scope, state) => writeState(warehouse, scope, STATES.incidents, stateText(state)),
  };
}

const fail = () => Promise.reject(new StorageError('the warehouse cannot be used'));

/** The states of a warehouse that cannot be opened. */
export const unusableStates: States = { load: fail, save: fail };
