import { useSignal, useSignalEffect } from '@preact/signals';
import { type Issuers, readIssuers } from '../../api/issuers.ts';
import { reconnected } from '../../api/load.ts';

/** Who signs people in: passwords alone until the control plane says so. */
export function useIssuers(): Issuers {
  const issuers = useSignal<Issuers>({ issuers: [], passwords: true });
  useSignalEffect(() => {
    // A control plane that was away is asked again.
    void reconnected.value;
    readIssuers().then(
      (found) => (issuers.value = found),
      () => undefined,
    );
  });
  return issuers.value;
}
