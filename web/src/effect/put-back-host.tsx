import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { type PutBackTarget, putBackTarget } from './put-back.ts';

type Body = ComponentType<{ target: PutBackTarget; close: () => void }>;

/** Shows what is asked to be put back; its script is read once somebody asks. */
export function PutBackHost() {
  const Found = useSignal<Body | undefined>(undefined);
  useSignalEffect(() => {
    if (!putBackTarget.value || Found.peek()) return;
    void import('./put-back-dialog.tsx').then(({ PutBackDialog }) => {
      Found.value = PutBackDialog;
    });
  });
  const [target, Dialog] = [putBackTarget.value, Found.value];
  if (!target || !Dialog) return null;
  const close = () => {
    putBackTarget.value = undefined;
  };
  return <Dialog key={JSON.stringify(target)} target={target} close={close} />;
}
