import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { coloursAt, onThemeChange } from './colours.ts';
import { draw } from './draw.ts';
import type { Marked, Picture, View } from './picture.ts';
import type { Place } from './places.ts';
import { fitted, type Hit, hitAt, zoomed } from './view.ts';

interface Props {
  readonly picture: ReadonlySignal<Picture | undefined>;
  readonly marked: ReadonlySignal<Marked>;
  /** Undefined until the picture was fitted. */
  readonly view: Signal<View | undefined>;
  readonly pick: (hit: Hit | undefined) => void;
  /** Called when another node or edge is below the pointer, or none. */
  readonly point: (hit: Hit | undefined) => void;
  readonly move: (key: string, place: Place) => void;
  /** Something is read or placed anew. */
  readonly isBusy: boolean;
  readonly label: string;
}

const STEP = 1.3;
/** CSS pixels that a pointer may move while it picks. */
const STILL = 4;

/** The picture: drag to pan, wheel or two fingers to zoom, drag what stands there to move it. */
export function Canvas({ picture, marked, view, pick, point, move, isBusy, label }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  const theme = useSignal(0);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width === size.peek().width && height === size.peek().height) return;
      element.width = Math.round(width * devicePixelRatio);
      element.height = Math.round(height * devicePixelRatio);
      size.value = { width, height };
    });
    watch.observe(element);
    const unfollow = onThemeChange(() => (theme.value += 1));
    return () => {
      watch.disconnect();
      unfollow();
    };
  }, []);
  const fit = useRef<{ readonly view: View; readonly size: object } | undefined>(undefined);
  useSignalEffect(() => {
    const { width, height } = size.value;
    // A view that nobody has moved or zoomed is of its window alone.
    const isOutgrown = view.value === fit.current?.view && size.value !== fit.current?.size;
    if (!picture.value || width === 0 || (view.value && !isOutgrown)) return;
    fit.current = { view: fitted(picture.value, width, height), size: size.value };
    view.value = fit.current.view;
  });
  useFrames(canvas, { picture, marked, view, size, theme });
  useGestures(canvas, { picture, view, pick, point, move });
  const zoom = (factor: number) => {
    const { width, height } = size.peek();
    if (view.value) view.value = zoomed(view.value, factor, { x: width / 2, y: height / 2 });
  };
  return (
    <div class="picture">
      <canvas ref={canvas} role="img" aria-label={label} aria-busy={isBusy} />
      <div class="picture-controls">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(STEP)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / STEP)}>
          −
        </button>
        <button type="button" onClick={() => (view.value = undefined)}>
          Fit
        </button>
      </div>
    </div>
  );
}

interface Drawn {
  readonly picture: ReadonlySignal<Picture | undefined>;
  readonly marked: ReadonlySignal<Marked>;
  readonly view: ReadonlySignal<View | undefined>;
  readonly size: ReadonlySignal<object>;
  readonly theme: ReadonlySignal<number>;
}

/** Draws at the next frame after something changed, once. */
function useFrames(canvas: { current: HTMLCanvasElement | null }, { picture, marked, view, size, theme }: Drawn): void {
  const colours = useRef<{ readonly theme: number; readonly of: ReturnType<typeof coloursAt> } | undefined>(undefined);
  const frame = useRef(0);
  useSignalEffect(() => {
    const [shown, seen, marks, themed] = [picture.value, view.value, marked.value, theme.value];
    size.value;
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element?.parentElement || !context || !shown || !seen) return;
    if (colours.current?.theme !== themed) colours.current = { theme: themed, of: coloursAt(element.parentElement) };
    const { of } = colours.current;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      draw(context, shown, seen, of, marks);
      performance.mark('topology-drawn');
    });
  });
  useLayoutEffect(() => () => cancelAnimationFrame(frame.current), []);
}

type Gestured = Pick<Props, 'picture' | 'view' | 'pick' | 'point' | 'move'>;

function useGestures(canvas: { current: HTMLCanvasElement | null }, props: Gestured): void {
  const latest = useRef(props);
  latest.current = props;
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const pointers = new Map<number, Place>();
    let [hasMoved, held] = [false, undefined as string | undefined];
    let pointed: string | undefined;
    const at = ({ offsetX: x, offsetY: y }: PointerEvent | WheelEvent): Place => ({ x, y });
    const hit = (place: Place) => {
      const { picture, view } = latest.current;
      return picture.value && view.value ? hitAt(picture.value, view.value, place) : undefined;
    };
    const point = (found: Hit | undefined) => {
      const key = found && ('node' in found ? found.node.key : found.edge.key);
      if (key === pointed) return;
      pointed = key;
      latest.current.point(found);
    };
    const down = (event: PointerEvent) => {
      element.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      const found = hit(at(event));
      [hasMoved, held] = [false, found && 'node' in found ? found.node.key : undefined];
    };
    const moved = (event: PointerEvent) => {
      const { view, move } = latest.current;
      const before = pointers.get(event.pointerId);
      const now = at(event);
      if (!before || !view.value) {
        const found = hit(now);
        element.style.cursor = found ? 'pointer' : 'grab';
        point(found);
        return;
      }
      const [dx, dy] = [now.x - before.x, now.y - before.y];
      if (!hasMoved && Math.hypot(dx, dy) < STILL) return;
      hasMoved = true;
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      pointers.set(event.pointerId, now);
      const { x, y, scale } = view.value;
      if (other) {
        const [was, is] = [before, now].map((end) => Math.hypot(end.x - other.x, end.y - other.y)) as [number, number];
        const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
        view.value = zoomed({ x: x + dx / 2, y: y + dy / 2, scale }, is / (was || 1), middle);
      } else if (held !== undefined)
        move(held, { x: Math.round((now.x - x) / scale), y: Math.round((now.y - y) / scale) });
      else view.value = { x: x + dx, y: y + dy, scale };
    };
    const up = (event: PointerEvent) => {
      pointers.delete(event.pointerId);
      if (!hasMoved && event.type === 'pointerup') latest.current.pick(hit(at(event)));
      if (pointers.size === 0) held = undefined;
    };
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const { view } = latest.current;
      if (view.value) view.value = zoomed(view.value, Math.exp(-event.deltaY / 400), at(event));
    };
    const leave = () => point(undefined);
    element.addEventListener('pointerleave', leave);
    element.addEventListener('pointerdown', down);
    element.addEventListener('pointermove', moved);
    element.addEventListener('pointerup', up);
    element.addEventListener('pointercancel', up);
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      element.removeEventListener('pointerleave', leave);
      element.removeEventListener('pointerdown', down);
      element.removeEventListener('pointermove', moved);
      element.removeEventListener('pointerup', up);
      element.removeEventListener('pointercancel', up);
      element.removeEventListener('wheel', wheel);
    };
  }, []);
}
