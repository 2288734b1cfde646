// A walk as the fragment of an address: the key of the world, the place in the walk, and its moves, compressed.

const LETTERS = 200000; // a longer fragment is no walk

async function through(stream, bytes) {
  const answered = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await answered.arrayBuffer());
}

export async function toFragment(world, at, moves) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode([world, at, ...moves].join("\n")));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function fromFragment(fragment) {
  if (!/^[\w-]+$/.test(fragment) || fragment.length > LETTERS) return null;
  try {
    const text = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(text, (one) => one.charCodeAt(0)));
    const [world, at, ...moves] = new TextDecoder("utf-8", { fatal: true }).decode(bytes).split("\n");
    return { world, at: Number.parseInt(at, 10) || 0, moves };
  } catch {
    return null;
  }
}
