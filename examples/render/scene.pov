// A ball on a checkered floor that a lamp goes around once; Frame of Frames is told on the command line.
#version 3.7;
global_settings { assumed_gamma 1.0 }

#declare Turn = 2 * pi * Frame / Frames;

camera { location <0, 2.5, -6> look_at <0, 0.9, 0> }
light_source { <6 * cos(Turn), 5, 6 * sin(Turn)> color rgb <1.0, 0.95, 0.85> }
sky_sphere { pigment { gradient y color_map { [0 rgb <0.85, 0.9, 1>] [1 rgb <0.25, 0.4, 0.7>] } } }

plane { y, 0 pigment { checker rgb 0.9, rgb <0.2, 0.25, 0.3> } }
sphere { <0, 1, 0>, 1 pigment { rgb <0.9, 0.5, 0.2> } finish { specular 0.6 reflection 0.25 } }
