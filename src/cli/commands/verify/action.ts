import { exitCodeOf, verifyWarehouse } from '../../../../jobs/verify.ts';
import type { Action } from '../../program/command.ts';
import { renderVerification, verificationDocument } from './screen.ts';

const AGAINST_API = { min: 1, max: 100_000 };
const SEED = { min: 0, max: 1_000_000_000 };

export const act: Action = async ({ settings, job, flags, out }) => {
  const againstApi = flags.number('--against-api', AGAINST_API) ?? 0;
  const request = {
    againstApi,
    organization: flags.text('--organization'),
    seed: flags.number('--seed', SEED),
  };
  const result = await verifyWarehouse(settings, request, job);
  out.show(verificationDocument(result), (frame) => renderVerification(result, frame));
  return exitCodeOf(result);
};
