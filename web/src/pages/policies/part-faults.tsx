import { useFaults } from '../../ui/form.tsx';

/** What is wrong with a part of a policy, as far as no field of it shows it. */
export function PartFaults({ at }: { at: string }) {
  return useFaults('', [at]).faults;
}
