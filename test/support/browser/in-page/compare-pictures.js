// Runs in the browser, on a page without a policy. For each two pictures, the share of pixels that a person tells apart.
async (pictures) => {
  const CLEAR = 48;
  const grayOf = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    return Array.from({ length: data.length / 4 }, (_, pixel) => data[4 * pixel]);
  };
  const grays = await Promise.all(pictures.map(grayOf));
  const differing = (a, b) => a.filter((gray, pixel) => Math.abs(gray - b[pixel]) > CLEAR).length / a.length;
  return grays.flatMap((a, index) => grays.slice(index + 1).map((b) => differing(a, b)));
};
