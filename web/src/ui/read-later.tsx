import type { ComponentType } from 'preact';
import { useLoaded } from '../api/load.ts';
import { readScript } from '../api/script.ts';
import { ReadResult } from './read-result.tsx';

/** A component whose script is read when it is first shown; where it does not come, why, until the control plane answers again. */
export function readLater<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return function Later(props: Props) {
    const script = useLoaded(() => readScript(load), { live: false });
    return <ReadResult of={script.value}>{(Body) => <Body {...props} />}</ReadResult>;
  };
}
