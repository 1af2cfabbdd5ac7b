import type { Clock } from '../core/clock.ts';
import { SerialQueue } from '../core/serial-queue.ts';
import type { ErasingPrivacy } from '../privacy/without-erased.ts';
import { listLearned } from '../warehouse/learned-addresses.ts';
import type { Warehouse } from '../warehouse/port.ts';

/** The new addresses with which erased people have come in one organization. They stay away under these too. */
export class NewAddresses {
  readonly #given: NewAddressesOptions;
  readonly #queue = new SerialQueue();
  #waiting: readonly string[] = [];

  constructor(given: NewAddressesOptions) {
    this.#given = given;
  }

  /**
   * Lists what was found so far. Await it before each commit: rows may hold the address alone, and after a kill only the list
   * knows that they are to be swept.
   */
  list(): Promise<void> {
    return this.#queue.add(async () => {
      const { warehouse, clock, privacy, orgId } = this.#given;
      const values = [...this.#waiting, ...privacy.newlyLearned()];
      this.#waiting = values;
      if (values.length > 0) await listLearned(warehouse, { orgId, values }, clock.now());
      this.#waiting = [];
    });
  }
}

interface NewAddressesOptions {
  readonly warehouse: Pick<Warehouse, 'transact' | 'oneAtATime'>;
  readonly clock: Clock;
  readonly privacy: ErasingPrivacy;
  readonly orgId: string;
}
