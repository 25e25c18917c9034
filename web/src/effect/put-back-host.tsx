import { readLater } from '../ui/read-later.tsx';
import { putBackTarget } from './put-back.ts';

const PutBackDialog = readLater(async () => (await import('./put-back-dialog.tsx')).PutBackDialog);

/** Shows what is asked to be put back. */
export function PutBackHost() {
  const target = putBackTarget.value;
  if (!target) return null;
  const close = () => {
    putBackTarget.value = undefined;
  };
  return <PutBackDialog key={JSON.stringify(target)} target={target} close={close} />;
}
