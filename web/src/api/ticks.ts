import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** Steps once each so many ms while the page is in sight: what no event tells of is asked for again. */
export function useTicks(ms: number): ReadonlySignal<number> {
  const ticks = useSignal(0);
  useLayoutEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) ticks.value += 1;
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
  return ticks;
}
