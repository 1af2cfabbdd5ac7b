import type { Clock } from '../../core/clock.ts';
import { type EmailPolicy, type Privacy, privacyOf } from '../../privacy/email.ts';
import { type ErasedList, NOBODY } from '../../privacy/erased-people.ts';
import { type ErasingPrivacy, withoutErased } from '../../privacy/without-erased.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { NewAddresses } from '../new-addresses.ts';

/** How archived texts are read, and where the new addresses of erased people go. */
export interface ArchivedReading {
  readonly privacy: Privacy;
  readonly newAddresses: NewAddresses;
}

/** How the archived texts of one organization are read, for each policy under which they were archived. */
export class ArchivedReadings {
  readonly #given: ReadingOptions;
  readonly #known = new Map<EmailPolicy['mode'], ArchivedReading>();

  constructor(given: ReadingOptions) {
    this.#given = given;
  }

  of(emails: EmailPolicy['mode']): ArchivedReading {
    const known = this.#known.get(emails) ?? this.#begin(emails);
    this.#known.set(emails, known);
    return known;
  }

  #begin(emails: EmailPolicy['mode']): ArchivedReading {
    const { warehouse, clock, erased, orgId } = this.#given;
    const privacy = archivedPrivacy(emails, erased, orgId);
    return { privacy, newAddresses: new NewAddresses({ warehouse, clock, privacy, orgId }) };
  }
}

interface ReadingOptions {
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly erased: ErasedList;
  readonly orgId: string;
}

/**
 * The policy with which archived texts are read: they went through the email policy before, and must not again. Who was erased
 * after they were archived is left out.
 * @param erased default: nobody
 */
export function archivedPrivacy(
  emails: EmailPolicy['mode'],
  erased: ErasedList = NOBODY,
  orgId = '',
): ErasingPrivacy {
  return withoutErased(privacyOf({ mode: emails === 'drop' ? 'drop' : 'keep' }), erased, [orgId]);
}
