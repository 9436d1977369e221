"""Made-up clips: a camera that goes over a texture."""

import io

import numpy as np


def texture(seed=0, side=200):
    """Smooth grey patterns, uint8 (side, side)."""
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(np.random.default_rng(seed).normal(size=(side, side)), 3.0, mode="wrap")
    return np.uint8(np.interp(noise, (noise.min(), noise.max()), (0, 255)))


def panned(world, speed, n_frames=12):
    """An MP4 of 96 x 64 pixels, ten frames a second, over which the world moves to the left by ``speed`` pixels."""
    import av

    made = io.BytesIO()
    with av.open(made, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for number in range(n_frames):
            window = world[20:84, speed * number : speed * number + 96]
            frame = av.VideoFrame.from_ndarray(np.repeat(window[..., None], 3, axis=2), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return made.getvalue()
