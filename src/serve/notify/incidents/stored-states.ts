import { StorageError } from '../../../core/errors.ts';
import type { Warehouse } from '../../../warehouse/port.ts';
import { parseState, stateText } from './incident.ts';
import type { IncidentPorts } from './report-incidents.ts';

/** The name in `export_state` for the incidents of an organization. */
const INCIDENTS = 'incidents';

type States = Omit<IncidentPorts, 'send'>;

/** Keeps states in the warehouse. */
export function warehouseStates(warehouse: Pick<Warehouse, 'state' | 'setState'>): States {
  return {
    load: async (scope) => parseState(await warehouse.state(scope, INCIDENTS)),
    save: (scope, state) => warehouse.setState(scope, INCIDENTS, stateText(state)),
  };
}

const fail = () => Promise.reject(new StorageError('the warehouse cannot be used'));

/** The states of a warehouse that cannot be opened. */
export const unusableStates: States = { load: fail, save: fail };
