import type { ReadonlySignal } from '@preact/signals';
import { createContext, type JSX } from 'preact';
import { useContext, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { faultsOf, fieldKey, isOf } from './field-faults.ts';

interface FormState {
  readonly problem: Problem | undefined;
  /** Keys of the fields that are there. */
  readonly fields: Map<string, readonly string[]>;
}

const FormPlace = createContext<FormState | undefined>(undefined);

type FormProps = Omit<JSX.IntrinsicElements['form'], 'ref'> & {
  /** Why it was refused last: what is wrong with a field stands at the field. */
  readonly problem: ReadonlySignal<Problem | undefined>;
};

/** A form whose fields show what a refusal says of them. */
export function Form({ problem, children, ...props }: FormProps) {
  const fields = useRef(new Map<string, readonly string[]>()).current;
  const current = problem.value;
  const state = useMemo(() => ({ problem: current, fields }), [current]);
  return (
    <FormPlace.Provider value={state}>
      <form {...props}>{children}</form>
    </FormPlace.Provider>
  );
}

/**
 * The faults of a field, and what its control says of them.
 *
 * @param label empty for a part of a form without a label
 * @param names in the API, or pointers (RFC 6901), of what the label does not name
 */
export function useFaults(label: string, names: readonly string[] = []) {
  const form = useContext(FormPlace);
  const id = useId();
  const keys = [label, ...names].map(fieldKey);
  useLayoutEffect(() => {
    form?.fields.set(id, keys);
    return () => {
      form?.fields.delete(id);
    };
  }, [form?.fields, keys.join(' ')]);
  const faults = faultsOf(form?.problem?.errors ?? [], keys, [...(form?.fields.values() ?? [])].flat());
  const marks = faults.length === 0 ? {} : { 'aria-invalid': true, 'aria-describedby': id };
  return { marks, faults: <Faults id={id} faults={faults} /> };
}

function Faults({ id, faults }: { id: string; faults: readonly string[] }) {
  if (faults.length === 0) return null;
  return (
    <span id={id} class="fault break">
      {faults.join(' ')}
    </span>
  );
}

/** The errors of a problem that no field of its form shows. */
export function useUnmarked(problem: Problem | undefined): Problem['errors'] {
  const form = useContext(FormPlace);
  if (!problem) return [];
  if (form?.problem !== problem) return problem.errors;
  const shown = [...form.fields.values()].flat();
  return problem.errors.filter((fault) => !isOf(fault, shown));
}
